/**
 * Write-behind of derived files: the sparse index and `metadata.json`. Both can be rebuilt, except that `info` may be the only copy.
 */
import type { AdapterAppendOptions } from "@sessions/core/storage"
import type { Files } from "../disk/files.ts"
import { checkBefore, saveIndex } from "../log/sparse-index.ts"
import { type StoredInfo, writeMetadata } from "../log/metadata.ts"
import { isInPlace, type OpenLog, toMetadata } from "./open-log.ts"

/** Information as of an append. The text of one that comes later is made when it is asked for. */
export class GivenInfo {
  #make: (() => string | undefined) | undefined
  readonly #next: number
  #info: StoredInfo | undefined

  /** `before`: what holds if there is no text. */
  constructor(make: (() => string | undefined) | undefined, next: number, before: StoredInfo | undefined) {
    this.#make = make
    this.#next = next
    this.#info = before
  }

  get info(): StoredInfo | undefined {
    const text = this.#make?.()
    this.#make = undefined
    if (text !== undefined) this.#info = { text, next: this.#next }
    return this.#info
  }

  /** The newest of which the text was made. */
  get made(): StoredInfo | undefined {
    return this.#info
  }
}

export class WriteBehind {
  /** From the last append that gave one, or as it was stored. */
  given: GivenInfo | undefined
  /** Whether `metadata.json` is out of date. */
  #dirty = false
  #savedOffsets = 0

  /** Called when a log, or another part of it, was opened. */
  opened(info: StoredInfo | undefined, dirty: boolean): void {
    this.given = info && new GivenInfo(undefined, info.next, info)
    this.#dirty = dirty
    this.#savedOffsets = 0
  }

  get info(): StoredInfo | undefined {
    return this.given?.info
  }

  appended({ info, infoLater }: AdapterAppendOptions, next: number): void {
    this.#dirty = true
    if (infoLater !== undefined) this.given = new GivenInfo(infoLater, next, this.given?.made)
    else if (info !== undefined) this.given = new GivenInfo(undefined, next, { text: info, next })
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
