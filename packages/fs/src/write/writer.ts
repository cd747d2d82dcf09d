/**
 * The writing side of one session in one storage object: the lease, the open log, and what is written behind. One task at a time; an
 * append that finds everything in hand runs at once, without waiting for anything.
 */
import { type AppendOptions, checkSignal, type Head, type StorageError } from "@sessions/core/storage"
import { Behind } from "./behind.ts"
import { checkExpect, conflict } from "./conflict.ts"
import { createLog } from "./create.ts"
import type { Environment } from "../environment.ts"
import type { SessionPaths } from "../disk/layout.ts"
import { Lease } from "../lock/lease.ts"
import { readInfo, type StoredInfo } from "../log/metadata.ts"
import { type Batch, encodeBatch, isCurrent, isViewOf, type OpenLog, openLog, toHead, writeBatch } from "./open-log.ts"
import { rollPart } from "./roll.ts"
import { settle } from "./settle.ts"
import { recoverSwap } from "../session/swap.ts"
import { syncBatch } from "./sync.ts"
import { cutTorn } from "../log/torn.ts"
import { type LogView, saveMissingMarks } from "../log/view.ts"
import { createTaskQueue, unlessAborted } from "../wait.ts"

export class SessionWriter {
  readonly #env: Environment
  readonly #session: string
  readonly #paths: SessionPaths
  readonly #queue = createTaskQueue()
  readonly #behind = new Behind()
  readonly #lease: Lease
  #log: OpenLog | undefined
  /** Whether the log was looked at since the lock was taken. */
  #checked = false
  /** Set when not even cutting back helped: what the file holds is unknown to us until it is opened again. */
  #broken: StorageError | undefined

  constructor(env: Environment, session: string, paths: SessionPaths) {
    this.#env = env
    this.#session = session
    this.#paths = paths
    this.#lease = new Lease(env, paths.lock, { isIdle: () => this.idle, writeBehind: () => this.#writeBehind() })
  }

  get idle(): boolean {
    return this.#queue.idle
  }

  /** What was given with an append and may not stand in `metadata.json` yet. */
  infoOf(log: string): StoredInfo | undefined {
    return this.#log?.log === log ? this.#behind.info : undefined
  }

  /** Gives the head without waiting where lock, log and end are as expected; the common case by far. */
  append(lines: readonly string[], o: AppendOptions): Head | Promise<Head> {
    const log = this.#log
    if (
      this.idle &&
      log !== undefined &&
      this.#checked &&
      this.#env.durability === "os" &&
      this.#broken === undefined
    ) {
      if (this.#lease.refresh() === "held" && isCurrent(this.#env.files, log)) {
        checkExpect(log, o.expect, this.#session)
        const batch = encodeBatch(lines)
        if (this.#fits(log, batch)) return this.#write(log, batch, o)
      }
    }
    const fate = { sent: false }
    const work = this.#queue.run(() => this.#appendInTurn(lines, o, fate))
    // The next one in the queue waits for the work itself: what a failed sync takes back must be the log's end.
    return unlessAborted(work, o.signal, () => fate.sent)
  }

  /** Runs a task that changes the session as a whole, under the lock. */
  exclusively<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#queue.run(async () => {
      await this.#takeLock(signal, () => undefined)
      this.#closeLog()
      try {
        return await task()
      } finally {
        this.#lease.used()
      }
    })
  }

  /** Gives everything back, after what is queued. */
  close(): Promise<void> {
    return this.#queue.run(async () => this.closeNow())
  }

  /** The same at once; only where nothing is queued. */
  closeNow(): void {
    this.#lease.release()
    this.#closeLog()
  }

  async #appendInTurn(lines: readonly string[], o: AppendOptions, fate: { sent: boolean }): Promise<Head> {
    checkSignal(o.signal)
    await this.#takeLock(o.signal, () => this.#checkHope(o.expect))
    try {
      await this.#lookAtLog()
      checkSignal(o.signal)
      if (o.expect === 0 && this.#log === undefined) {
        fate.sent = true
        return await this.#create(lines, o)
      }
      let log = checkExpect(this.#log, o.expect, this.#session)
      const batch = encodeBatch(lines)
      if (!this.#fits(log, batch)) log = await this.#roll(log)
      checkSignal(o.signal)
      fate.sent = true
      // Encoded anew: another session's append may have used the buffer while this one waited.
      const [size, next] = [log.size, log.next]
      const head = this.#write(log, encodeBatch(lines), o)
      if (this.#env.durability === "disk") await this.#sync(log, { size, next })
      return head
    } finally {
      this.#lease.used()
    }
  }

  async #takeLock(signal: AbortSignal | undefined, whenBusy: () => void): Promise<void> {
    if (this.#broken !== undefined) throw this.#broken
    if (!(await this.#lease.take(signal, whenBusy))) return
    this.#checked = false
    await recoverSwap(this.#env.files, this.#env.layout, this.#paths)
  }

  /**
   * What no turn can help. An append that only came too late does wait for its turn: then this writer has the lock when it tries
   * again, and a busy one cannot be ahead of it for ever.
   */
  #checkHope(expect: Head | 0): void {
    const view = this.#env.view(this.#session)
    if (expect === 0 && view !== undefined) throw conflict(this.#session, "it exists already", view.folder)
    if (expect !== 0 && view?.log !== expect.log) {
      throw conflict(this.#session, "its log was deleted or replaced meanwhile", view?.folder)
    }
  }

  async #lookAtLog(): Promise<void> {
    const { files } = this.#env
    if (this.#checked && this.#log !== undefined && isCurrent(files, this.#log)) return
    const view = this.#env.view(this.#session)
    if (view === undefined) this.#closeLog()
    else if (this.#log === undefined || !isViewOf(this.#log, view)) await this.#open(view)
    if (this.#lease.fence && this.#log !== undefined && !this.#checked) await this.#roll(this.#log)
    this.#checked = true
  }

  async #open(view: LogView): Promise<void> {
    const { files } = this.#env
    this.#closeLog()
    await cutTorn(files, view)
    if (!view.stored) this.#env.storeIdentity(view)
    this.#log = openLog(files, view)
    this.#behind.opened(readInfo(files, view.folder, view.log, view.next), false)
    if (view.parts.length === 1) return
    this.#env.markRolled(this.#paths)
    saveMissingMarks(files, view)
  }

  async #create(lines: readonly string[], o: AppendOptions): Promise<Head> {
    const { files, layout, durability } = this.#env
    // Copied: the buffer that batches share may be used while this one waits for the disk.
    const bytes = encodeBatch(lines).bytes.slice()
    await createLog(files, layout, this.#paths, bytes, durability === "disk")
    const view = this.#env.view(this.#session)
    if (view === undefined) throw conflict(this.#session, "it was removed while it was made", this.#paths.folder)
    this.#log = openLog(files, view)
    this.#behind.opened(undefined, true)
    this.#behind.appended(o.info, lines.length)
    this.#env.bells.ring(this.#session)
    return toHead(this.#log)
  }

  #fits(log: OpenLog, { bytes }: Batch): boolean {
    return log.size === 0 || log.size + bytes.length <= this.#env.maxPartBytes
  }

  async #roll(log: OpenLog): Promise<OpenLog> {
    this.#log = await rollPart(this.#env, this.#paths, log, this.#behind.info)
    this.#behind.opened(this.#behind.info, true)
    return this.#log
  }

  #write(log: OpenLog, batch: Batch, o: AppendOptions): Head {
    const expect = toHead(log)
    writeBatch(this.#env.files, log, batch)
    this.#behind.appended(o.info, log.next)
    if (!this.#lease.isCertain() && this.#lease.refresh(true) === "lost") {
      // Somebody may have taken the lock before the write: only the log can say whether it counts.
      this.#lease.lose()
      this.#closeLog()
      return settle(this.#env, this.#session, batch.lines, expect)
    }
    this.#lease.used()
    if (this.#env.durability === "os") this.#env.bells.ring(this.#session)
    return toHead(log)
  }

  async #sync(log: OpenLog, before: { readonly size: number; readonly next: number }): Promise<void> {
    try {
      await syncBatch(this.#env, this.#session, log, before)
    } catch (error) {
      const failed = this.#env.error(error, "sync the log", this.#session)
      if (failed.code === "corrupt") this.#broken = failed
      throw failed
    }
    this.#env.bells.ring(this.#session)
  }

  #writeBehind(): void {
    if (this.#log !== undefined && this.#checked) this.#behind.write(this.#env.files, this.#log)
  }

  #closeLog(): void {
    if (this.#log !== undefined) this.#env.files.close(this.#log.fd)
    this.#log = undefined
    this.#checked = false
    this.#behind.opened(undefined, false)
  }
}
