/**
 * Write-behind of derived files: the sparse index and `metadata.json`. Both can be rebuilt, except that `info` may be the only copy.
 */
import type { Files } from "../disk/files.ts"
import { checkBefore, saveIndex } from "../log/sparse-index.ts"
import { type StoredInfo, writeMetadata } from "../log/metadata.ts"
import { isInPlace, type OpenLog, toMetadata } from "./open-log.ts"

export class WriteBehind {
  /** From the last append that gave one, or as it was stored. */
  info: StoredInfo | undefined
  /** Whether `metadata.json` is out of date. */
  #dirty = false
  #savedOffsets = 0

  /** Called when a log, or another part of it, was opened. */
  opened(info: StoredInfo | undefined, dirty: boolean): void {
    this.info = info
    this.#dirty = dirty
    this.#savedOffsets = 0
  }

  appended(info: string | undefined, next: number): void {
    this.#dirty = true
    if (info !== undefined) this.info = { text: info, next }
  }

  flush(files: Files, log: OpenLog): void {
    try {
      // The folder may hold another log by now, such as a copy that was put back.
      if (!isInPlace(files, log)) return
      // The first offset is the start of the part, which needs no index.
      if (log.offsets.length > Math.max(this.#savedOffsets, 1)) {
        saveIndex(files, log.folder, log.part.name, log.fd, log.offsets)
        this.#savedOffsets = log.offsets.length
      }
      if (this.#dirty) {
        const metadata = toMetadata(log, this.info, checkBefore(files, log.fd, log.size))
        writeMetadata(files, log.folder, metadata, files.fstat(log.fd))
      }
      this.#dirty = false
    } catch {
      // On a full disk, for example. Listings then read the log itself, and the next flush tries again.
    }
  }
}
