/** What is written behind the log: offsets, and what a listing shows. All of it is derived, except that `info` may be the only copy. */
import type { Files } from "../disk/files.ts"
import { checkBefore, saveIndex } from "../log/sparse-index.ts"
import { type StoredInfo, writeMetadata } from "../log/metadata.ts"
import { isInPlace, type OpenLog, toMetadata } from "./open-log.ts"

export class WriteBehind {
  /** Given with the last append that had one, or found beside the log. */
  info: StoredInfo | undefined
  /** Whether `metadata.json` does not say what we know. */
  #dirty = false
  #savedOffsets = 0

  /** A log, or another part of it, was opened. */
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
      // Another log in the same folder, say a copy that was put back, has its own.
      if (!isInPlace(files, log)) return
      // The first line is where the part begins, which needs no saying.
      if (log.offsets.length > Math.max(this.#savedOffsets, 1)) {
        saveIndex(files, log.folder, log.part.name, log.fd, log.offsets)
        this.#savedOffsets = log.offsets.length
      }
      if (this.#dirty) {
        writeMetadata(files, log.folder, toMetadata(log, this.info, checkBefore(files, log.fd, log.size)))
      }
      this.#dirty = false
    } catch {
      // On a full disk, say: a listing has to look into the log then, and the next lease tries again.
    }
  }
}
