/**
 * Writes one session for one storage object: holds its lease, its open log, and the derived files to write behind. Tasks run one at
 * a time. An append that finds the lock held and the log unchanged runs synchronously.
 */
import {
  type AdapterAppendOptions,
  checkSignal,
  createQueue,
  hasStorageCode,
  type Head,
  type Seq,
  StorageError,
  unlessAborted,
} from "@sessions/core/storage"
import { type GivenInfo, WriteBehind } from "./write-behind.ts"
import { createLog } from "./create.ts"
import type { Deps } from "../deps.ts"
import type { SessionPaths } from "../disk/layout.ts"
import { Lease } from "./lock-hold.ts"
import type { EncodedLines } from "../log/count.ts"
import { readInfo, type StoredInfo } from "../log/metadata.ts"
import { checkExpect, conflictError, encodeBatch, writeBatch } from "./append.ts"
import { isCurrent, isInPlace, isViewOf, type OpenLog, openLog, toHead } from "./open-log.ts"
import { rollPart } from "./roll.ts"
import { resolveOutcome, unknownOutcomeError } from "./outcome.ts"
import { recoverSwap } from "../disk/swap.ts"
import { sweepTemporaries } from "./sweep.ts"
import { type Before, syncBatch, syncFound, syncSession } from "./sync.ts"
import { cutTorn } from "../log/torn.ts"
import { type LogView, saveMissingIndexes } from "../log/view.ts"

export class SessionWriter {
  readonly #deps: Deps
  readonly #session: string
  readonly #paths: SessionPaths
  readonly #queue = createQueue()
  readonly #writeBehind = new WriteBehind()
  readonly #lease: Lease
  #log: OpenLog | undefined
  /** Whether the log was checked since the lock was taken. */
  #checked = false
  /** The refresh of the lock at which the open file was last found in the session's folder. */
  #placed = -1
  /** Set if a failed batch could not be cut off. The content of the file is unknown until the storage is opened again. */
  #broken: StorageError | undefined

  constructor(deps: Deps, session: string, paths: SessionPaths) {
    this.#deps = deps
    this.#session = session
    this.#paths = paths
    this.#lease = new Lease(deps, paths.lock, { isIdle: () => this.idle, flush: () => this.#flush() })
  }

  get idle(): boolean {
    return this.#queue.idle
  }

  /**
   * Information that `metadata.json` may not have yet. If the log has another end, another writer has appended since, and its
   * information is newer.
   */
  infoOf(log: string, next: Seq): StoredInfo | undefined {
    return this.#log?.log === log && this.#log.next === next ? this.#writeBehind.info : undefined
  }

  /** Returns the head synchronously if lock, log and end are as expected, which is the common case. */
  append(lines: readonly string[], o: AdapterAppendOptions): Head | Promise<Head> {
    const log = this.#log
    const isReady = this.idle && this.#checked && this.#broken === undefined && this.#deps.durability === "os"
    if (isReady && log !== undefined && this.#lease.refresh() === "held" && this.#isCurrent(log)) {
      checkExpect(this.#deps.files, log, o.expect, this.#session)
      const batch = encodeBatch(lines)
      if (this.#fits(log, batch)) return this.#writeAtOnce(log, batch, o)
    }
    const fate = { sent: false }
    const work = this.#queue.run(() => this.#appendQueued(lines, o, fate))
    // The queue waits for the work itself, not for the abortable promise: a failed sync must cut off the end of the log.
    return unlessAborted(work, o.signal, () => fate.sent)
  }

  /** Runs a task that changes the whole session, under the lock. `checkHeld` throws if the lock was lost meanwhile. */
  exclusively<T>(task: (checkHeld: () => void) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#queue.run(async () => {
      await this.#takeLock(signal, () => undefined)
      this.#flush()
      this.#closeLog()
      try {
        return await task(this.#checkHeld)
      } finally {
        this.#lease.used()
      }
    })
  }

  /** Releases everything after the queued tasks. */
  close(): Promise<void> {
    return this.#queue.run(async () => this.closeNow())
  }

  /** The same at once; call only if nothing is queued. */
  closeNow(): void {
    this.#lease.release()
    this.#closeLog()
  }

  async #appendQueued(lines: readonly string[], o: AdapterAppendOptions, fate: { sent: boolean }): Promise<Head> {
    checkSignal(o.signal)
    await this.#takeLock(o.signal, () => this.#failEarly(o.expect))
    try {
      await this.#refreshLog()
      checkSignal(o.signal)
      if (o.expect === 0 && this.#log === undefined) {
        fate.sent = true
        return await this.#create(lines, o)
      }
      let log = checkExpect(this.#deps.files, this.#log, o.expect, this.#session)
      let batch = encodeBatch(lines)
      if (!this.#fits(log, batch)) {
        log = await this.#roll(log)
        // Encoded again: another session's append may have used the shared buffer during the `await`.
        batch = encodeBatch(lines)
      }
      checkSignal(o.signal)
      fate.sent = true
      const before = { size: log.size, next: log.next, given: this.#writeBehind.given }
      const head = this.#write(log, batch, o)
      if (head === undefined) return await this.#resolveOutcome(lines, { next: before.next, log: log.log })
      if (this.#deps.durability === "disk") await this.#sync(log, before)
      this.#deps.notifier.emit(this.#session)
      return head
    } finally {
      this.#lease.used()
    }
  }

  async #takeLock(signal: AbortSignal | undefined, whenBusy: () => void): Promise<void> {
    if (this.#broken !== undefined) throw this.#broken
    if (!(await this.#lease.take(signal, whenBusy))) return
    this.#checked = false
    await recoverSwap(this.#deps.files, this.#deps.layout, this.#paths)
  }

  /**
   * Rejects an append that waiting for the lock cannot help. One with an outdated head does wait: its writer then holds the lock
   * when it retries, so a busy writer cannot stay ahead for ever.
   */
  #failEarly(expect: Head | 0): void {
    const view = this.#deps.view(this.#session)
    if (expect === 0 && view !== undefined) throw conflictError(this.#session, "it exists already", view.folder)
    if (expect !== 0 && view?.log !== expect.log) {
      throw conflictError(this.#session, "its log was deleted or replaced meanwhile", view?.folder)
    }
  }

  async #refreshLog(): Promise<void> {
    if (this.#checked && this.#log !== undefined && this.#isCurrent(this.#log)) return
    // Its file may have been written again, to the same length.
    if (this.#log !== undefined) this.#log.last = undefined
    const view = this.#deps.view(this.#session)
    if (view === undefined) this.#closeLog()
    else if (this.#log === undefined || !isViewOf(this.#deps.files, this.#log, view)) await this.#open(view)
    if (this.#lease.fence && this.#log !== undefined && !this.#checked) await this.#roll(this.#log)
    this.#checked = true
  }

  /**
   * The check that the file is still in the session's folder costs as much as the `fstat`, so it runs once per refresh of the lock.
   */
  #isCurrent(log: OpenLog): boolean {
    const { files } = this.#deps
    const placed = this.#placed === this.#lease.refreshes
    if (!isCurrent(files, log) || (!placed && !isInPlace(files, log))) return false
    this.#placed = this.#lease.refreshes
    return true
  }

  readonly #checkHeld = (): void => {
    if (this.#lease.refresh(true) !== "lost") return
    const message = `The lock of session ${this.#session} was taken over while this process stood still; nothing was changed. Repeat the call.`
    throw new StorageError("unavailable", message, { session: this.#session, at: this.#paths.lock })
  }

  async #open(view: LogView): Promise<void> {
    const { files, durability } = this.#deps
    this.#closeLog()
    await cutTorn(files, view)
    sweepTemporaries(files, view.folder)
    if (!view.stored) this.#deps.storeIdentity(view)
    if (durability === "disk") await syncFound(this.#deps, view)
    this.#log = openLog(files, view)
    this.#writeBehind.opened(readInfo(files, view.folder, view.log, view.next), false)
    if (view.parts.length === 1) return
    this.#deps.recordParts(this.#paths)
    saveMissingIndexes(files, view)
  }

  async #create(lines: readonly string[], o: AdapterAppendOptions): Promise<Head> {
    const { files, layout, root, durability } = this.#deps
    // Copied, because another append may use the shared buffer while this one waits for the disk.
    const { buffer, length } = encodeBatch(lines)
    const bytes = new Uint8Array(buffer.subarray(0, length))
    const durable = durability === "disk"
    const log = await createLog({ files, layout, root, paths: this.#paths, bytes, durable, checkHeld: this.#checkHeld })
    this.#openCreated(log, lines.length, o)
    this.#deps.notifier.emit(this.#session)
    return { next: lines.length, log }
  }

  /** The session exists by now, so an error here must not fail this append; the next one opens the log again. */
  #openCreated(log: string, next: number, o: AdapterAppendOptions): void {
    try {
      const view = this.#deps.view(this.#session)
      if (view?.log !== log || view.next !== next) return
      this.#log = openLog(this.#deps.files, view)
      this.#writeBehind.opened(undefined, true)
      this.#writeBehind.appended(o, next)
    } catch {
      this.#closeLog()
    }
  }

  #fits(log: OpenLog, { length }: EncodedLines): boolean {
    return log.size === 0 || log.size + length <= this.#deps.maxPartBytes
  }

  async #roll(log: OpenLog): Promise<OpenLog> {
    try {
      this.#log = await rollPart(this.#deps, this.#paths, log, this.#writeBehind.info)
    } catch (error) {
      // The new part may exist, in which case the old one has ended and must not be appended to.
      this.#closeLog()
      throw error
    }
    this.#writeBehind.opened(this.#writeBehind.info, true)
    return this.#log
  }

  #writeAtOnce(log: OpenLog, batch: EncodedLines, o: AdapterAppendOptions): Head | Promise<Head> {
    const head = this.#write(log, batch, o)
    if (head === undefined) {
      const expect = { next: log.next - batch.lines.length, log: log.log }
      return this.#queue.run(() => this.#resolveOutcome(batch.lines, expect))
    }
    this.#deps.notifier.emit(this.#session)
    return head
  }

  /** Returns the new head, or undefined if the lock was lost, so that only the log can show whether the write counts. */
  #write(log: OpenLog, batch: EncodedLines, o: AdapterAppendOptions): Head | undefined {
    writeBatch(this.#deps.files, log, batch)
    this.#writeBehind.appended(o, log.next)
    if (!this.#lease.isCertain() && this.#lease.refresh(true) === "lost") {
      this.#lease.lose()
      this.#closeLog()
      return undefined
    }
    this.#lease.used()
    return toHead(log)
  }

  /** Waits for the lock first: its present holder may be about to end the part before our lines. */
  async #resolveOutcome(lines: readonly string[], expect: Head): Promise<Head> {
    try {
      await this.#takeLock(undefined, () => undefined)
      await this.#refreshLog()
      const head = resolveOutcome(this.#deps, this.#session, lines, expect)
      if (this.#deps.durability === "disk") await syncSession(this.#deps, this.#session)
      return head
    } catch (error) {
      if (hasStorageCode(error, "conflict") || hasStorageCode(error, "indeterminate")) throw error
      throw unknownOutcomeError(this.#session, error)
    } finally {
      this.#lease.used()
    }
  }

  async #sync(log: OpenLog, before: Before & { readonly given: GivenInfo | undefined }): Promise<void> {
    try {
      await syncBatch(this.#deps, this.#session, log, before)
    } catch (error) {
      const failed = this.#deps.error(error, "sync the log", this.#session)
      if (failed.code === "corrupt") this.#broken = failed
      else this.#writeBehind.given = before.given
      throw failed
    }
  }

  #flush(): void {
    if (this.#log !== undefined && this.#checked) this.#writeBehind.flush(this.#deps.files, this.#log)
  }

  #closeLog(): void {
    if (this.#log !== undefined) this.#deps.files.close(this.#log.fd)
    this.#log = undefined
    this.#checked = false
    this.#writeBehind.opened(undefined, false)
  }
}
