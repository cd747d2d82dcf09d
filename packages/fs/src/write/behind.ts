/** What is written behind the log: marks, and what a listing shows. All of it is derived, except that `info` may be the only copy. */
import type { Files } from "../disk/files.ts"
import { checkBefore, saveMarks } from "../log/marks.ts"
import { type StoredInfo, writeMetadata } from "../log/metadata.ts"
import { type OpenLog, toMetadata } from "./open-log.ts"

export class Behind {
  /** Given with the last append that had one, or found beside the log. */
  info: StoredInfo | undefined
  /** Whether `metadata.json` does not say what we know. */
  #dirty = false
  #savedMarks = 0

  /** A log, or another part of it, was opened. */
  opened(info: StoredInfo | undefined, dirty: boolean): void {
    this.info = info
    this.#dirty = dirty
    this.#savedMarks = 0
  }

  appended(info: string | undefined, next: number): void {
    this.#dirty = true
    if (info !== undefined) this.info = { text: info, next }
  }

  write(files: Files, log: OpenLog): void {
    try {
      // The first mark is where the part begins, which needs no saying.
      if (log.marks.length > Math.max(this.#savedMarks, 1)) {
        saveMarks(files, log.folder, log.part.name, log.marks)
        this.#savedMarks = log.marks.length
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
