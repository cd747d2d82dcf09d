/** The root folder: makes its content durable. The root may be a symbolic link; below it no link is followed. */
import { type Files, READ_LINKED } from "./files.ts"
import { syncOpened } from "./small-files.ts"

export interface Root {
  /** Makes renames and new names in the root durable. */
  sync(): Promise<void>
}

export function createRoot(files: Files, path: string): Root {
  return {
    sync: () => syncOpened(files, path, READ_LINKED),
  }
}
