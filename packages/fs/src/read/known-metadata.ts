/** What `metadata.json` of the sessions listed last said: pages of a listing look at the same ones again and again. */
import type { FileStat, Files } from "../disk/files.ts"
import { below, METADATA_FILE } from "../disk/layout.ts"
import { type Metadata, readMetadata } from "../log/metadata.ts"
import { isSameFile, isSettled } from "../log/still.ts"

export interface KnownMetadata {
  /** As the file is now: it is read again where it is another one, or was made moments before it was read. */
  read(folder: string): Metadata | undefined
}

interface Known {
  readonly file: FileStat
  readonly metadata: Metadata | undefined
}

export function createKnownMetadata(files: Files): KnownMetadata {
  const known = new Map<string, Known>()
  return {
    read(folder) {
      const at = Date.now()
      const file = files.lstat(below(folder, METADATA_FILE))
      const before = known.get(folder)
      if (before !== undefined && file !== undefined && isSameFile(before.file, file)) return before.metadata
      known.delete(folder)
      const metadata = readMetadata(files, folder)
      if (file === undefined || !isSettled(file, at)) return metadata
      known.set(folder, { file, metadata })
      if (known.size > MOST) known.delete(known.keys().next().value ?? "")
      return metadata
    },
  }
}

/** Of a kilobyte or two, mostly. */
const MOST = 2_000
