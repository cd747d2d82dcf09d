/**
 * The writing side of one session in one storage object: the lock in leases, the open log, and what is written behind. One task at
 * a time; an append that finds everything in hand runs at once, without waiting for anything.
 */
import { type AppendOptions, checkSignal, type Head, StorageError } from "@sessions/core/storage"
import { createLog } from "./create.ts"
import type { Environment } from "./environment.ts"
import type { SessionPaths } from "./layout.ts"
import { acquireLock, type Lock, tryLock } from "./lock.ts"
import { readInfo, type StoredInfo, writeMetadata } from "./metadata.ts"
import { encodeBatch, isCurrent, type OpenLog, openLog, pathOf, toHead, toMetadata, writeBatch } from "./open-log.ts"
import { rollPart } from "./roll.ts"
import { saveMarks } from "./marks.ts"
import { settle } from "./settle.ts"
import { recoverSwap } from "./swap.ts"
import { cutTorn } from "./torn.ts"
import { type LogView, saveMissingMarks } from "./view.ts"
import { createTaskQueue, unlessAborted } from "./wait.ts"

/** A lock is given back when nothing was appended for so long. */
const IDLE_MS = 20
/** In a long burst, listings of other processes are brought up to date so often. */
const BEHIND_MS = 1_000

export class SessionWriter {
  readonly #env: Environment
  readonly #session: string
  readonly #paths: SessionPaths
  readonly #queue = createTaskQueue()
  #lock: Lock | undefined
  #log: OpenLog | undefined
  /** Given with the last append, or found beside the log. */
  #info: StoredInfo | undefined
  /** Whether `metadata.json` does not say what we know. */
  #behind = false
  #writtenBehind = 0
  #savedMarks = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #lastUse = 0
  /** Whether the log was looked at since the lock was taken. */
  #checked = false
  #polite = false
  /** Set when not even cutting back helped: what the file holds is unknown to us until it is opened again. */
  #broken: StorageError | undefined

  constructor(env: Environment, session: string, paths: SessionPaths) {
    this.#env = env
    this.#session = session
    this.#paths = paths
  }

  get idle(): boolean {
    return this.#queue.idle
  }

  /** What was given with an append and may not stand in `metadata.json` yet. */
  infoOf(log: string): StoredInfo | undefined {
    return this.#log?.log === log ? this.#info : undefined
  }

  /** Resolves synchronously where the lease, the log and the end are as expected; the common case by far. */
  append(lines: readonly string[], o: AppendOptions): Head | Promise<Head> {
    const log = this.#log
    if (this.#queue.idle && log !== undefined && this.#env.durability === "os" && o.expect !== 0) {
      const held = this.#refresh() === "held" && this.#broken === undefined
      if (held && isCurrent(this.#env.files, log)) {
        checkExpect(log, o.expect, this.#session)
        const batch = encodeBatch(lines)
        if (this.#fits(log, batch.bytes.length)) return this.#write(log, batch, o)
      }
    }
    const work = this.#queue.run(() => this.#appendInTurn(lines, o))
    return work
  }

  /** Runs a task that changes the session as a whole, under the lock. It may leave the log open or not; the next append looks. */
  exclusively<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#queue.run(async () => {
      await this.#ensureLock(signal)
      this.#closeLog()
      try {
        return await task()
      } finally {
        this.#used()
      }
    })
  }

  /** Runs a task between appends, with whatever is in hand. */
  inTurn<T>(task: (log: OpenLog | undefined) => Promise<T>): Promise<T> {
    return this.#queue.run(() => task(this.#log))
  }

  /** Gives everything back, after what is queued. */
  close(): Promise<void> {
    return this.#queue.run(async () => this.closeNow())
  }

  /** The same at once; only where nothing is queued. */
  closeNow(): void {
    this.#release()
    this.#closeLog()
  }

  async #appendInTurn(lines: readonly string[], o: AppendOptions): Promise<Head> {
    checkSignal(o.signal)
    await this.#ensureLock(o.signal, o.expect)
    checkSignal(o.signal)
    try {
      await this.#ensureLog()
      const batch = encodeBatch(lines)
      if (o.expect === 0) return await this.#create(batch.bytes, lines, o)
      let log = checkExpect(this.#log, o.expect, this.#session)
      if (!this.#fits(log, batch.bytes.length)) log = await this.#roll(log)
      const before = log.size
      const head = this.#write(log, encodeBatch(lines), o)
      if (this.#env.durability === "disk") {
        await unlessAborted(this.#syncBatch(log, before, lines.length), o.signal)
        this.#env.bells.ring(this.#session)
      }
      return head
    } finally {
      this.#used()
    }
  }

  async #ensureLock(signal: AbortSignal | undefined, expect?: Head | 0): Promise<void> {
    if (this.#broken !== undefined) throw this.#broken
    const state = this.#refresh()
    if (state === "held") return
    if (state === "wanted") this.#giveWay()
    else this.#lose()
    const { files, lockTimeout } = this.#env
    if (!this.#polite) this.#lock = tryLock(files, this.#paths.lock)
    if (this.#lock === undefined && expect !== undefined) this.#checkHope(expect)
    this.#lock ??= await acquireLock(files, this.#paths.lock, { timeout: lockTimeout, signal, polite: this.#polite })
    this.#polite = false
    await recoverSwap(files, this.#env.layout, this.#paths)
    this.#checked = false
  }

  /**
   * What no turn can help. An append that only came too late does wait for its turn: then this writer has the lock when it tries
   * again, and a busy one cannot be ahead of it for ever.
   */
  #checkHope(expect: Head | 0): void {
    const view = this.#env.view(this.#session)
    if (expect === 0 && view !== undefined) throw conflict(this.#session, "it exists already", view.folder)
    if (expect !== 0 && view?.log !== expect.log) {
      throw conflict(this.#session, "the log was deleted or replaced meanwhile", view?.folder)
    }
  }

  async #ensureLog(): Promise<void> {
    const { files } = this.#env
    if (this.#checked && this.#log !== undefined && isCurrent(files, this.#log)) return
    const view = this.#env.view(this.#session)
    if (view === undefined) this.#closeLog()
    else if (!isViewOf(this.#log, view)) await this.#open(view)
    if (this.#lock?.fence === true && this.#log !== undefined && !this.#checked) await this.#roll(this.#log)
    this.#checked = true
  }

  async #open(view: LogView): Promise<void> {
    const { files } = this.#env
    this.#closeLog()
    await cutTorn(files, view)
    if (!view.stored) this.#env.storeIdentity(view)
    this.#info = readInfo(files, view.folder, view.log, view.next)
    this.#log = openLog(files, view)
    this.#savedMarks = 0
    if (view.parts.length === 1) return
    this.#env.markRolled(this.#paths)
    saveMissingMarks(files, view)
  }

  async #create(bytes: Uint8Array, lines: readonly string[], o: AppendOptions): Promise<Head> {
    if (this.#log !== undefined) throw conflict(this.#session, "it exists already", pathOf(this.#log))
    const { files, layout, durability } = this.#env
    await createLog(files, layout, this.#paths, bytes, durability === "disk")
    const view = this.#env.view(this.#session)
    if (view === undefined) throw conflict(this.#session, "it was removed while it was being made", this.#paths.folder)
    this.#log = openLog(files, view)
    this.#savedMarks = 0
    this.#info = o.info === undefined ? undefined : { text: o.info, next: lines.length }
    this.#behind = true
    return toHead(this.#log)
  }

  #fits(log: OpenLog, bytes: number): boolean {
    return log.size === 0 || log.size + bytes <= this.#env.maxPartBytes
  }

  async #roll(log: OpenLog): Promise<OpenLog> {
    this.#log = await rollPart(this.#env, this.#paths, log, this.#info)
    this.#savedMarks = 0
    this.#behind = true
    return this.#log
  }

  #write(log: OpenLog, batch: ReturnType<typeof encodeBatch>, o: AppendOptions): Head {
    const expect = toHead(log)
    writeBatch(this.#env.files, log, batch)
    this.#behind = true
    if (o.info !== undefined) this.#info = { text: o.info, next: log.next }
    if (this.#lock?.isCertain() !== true && this.#refresh(true) === "lost") {
      // Somebody may have taken the lock before the write: only the log can say whether it counts.
      this.#lose()
      return settle(this.#env, this.#session, batch.lines, expect)
    }
    this.#used()
    if (this.#env.durability === "os") this.#env.bells.ring(this.#session)
    return toHead(log)
  }

  /** After a failed sync nothing since the last good one counts: the system takes the pages for clean, so a later sync proves nothing. */
  async #syncBatch(log: OpenLog, before: number, lines: number): Promise<void> {
    const { files } = this.#env
    try {
      await files.fdatasync(log.fd)
    } catch (error) {
      try {
        files.truncate(log.fd, before)
        await files.fdatasync(log.fd)
        log.size = before
        log.next -= lines
        while ((log.marks.at(-1)?.offset ?? 0) > before) log.marks.pop()
      } catch (second) {
        this.#broken = this.#env.error(
          second,
          "undo what could not be synced; open the storage anew",
          this.#session,
          pathOf(log),
          "corrupt",
        )
        throw this.#broken
      }
      throw this.#env.error(error, "sync the log", this.#session, pathOf(log))
    }
  }

  #used(): void {
    this.#lastUse = performance.now()
    if (this.#timer === undefined && this.#lock !== undefined) this.#timer = setTimeout(this.#tick, IDLE_MS)
  }

  readonly #tick = (): void => {
    this.#timer = undefined
    const rest = IDLE_MS - (performance.now() - this.#lastUse)
    if (this.#queue.idle && rest <= 0) return this.#release()
    if (this.#queue.idle && performance.now() - this.#writtenBehind > BEHIND_MS) this.#writeBehind()
    // While a task is at it, this keeps the lease fresh; what a lost or wanted one means is the next task's to find out.
    const state = this.#refresh()
    if (state === "wanted" && this.#queue.idle) this.#giveWay()
    if (this.#lock !== undefined) this.#timer = setTimeout(this.#tick, Math.max(1, rest))
  }

  /** A lock file that cannot be read or touched is as good as lost. */
  #refresh(now = false): "held" | "wanted" | "lost" {
    try {
      return this.#lock?.refresh(now) ?? "lost"
    } catch {
      return "lost"
    }
  }

  #giveWay(): void {
    this.#release()
    this.#polite = true
  }

  #release(): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#lock === undefined) return
    this.#writeBehind()
    const lock = this.#lock
    this.#lock = undefined
    try {
      lock.release()
    } catch {
      // It is not refreshed any more, so others take it over in time.
    }
  }

  /** The lock is somebody else's: nothing of the log is known any more. */
  #lose(): void {
    this.#lock = undefined
    this.#closeLog()
  }

  #writeBehind(): void {
    const log = this.#log
    this.#writtenBehind = performance.now()
    if (log === undefined) return
    const { files } = this.#env
    try {
      if (log.marks.length > Math.max(this.#savedMarks, 1)) {
        saveMarks(files, log.folder, log.part.name, log.marks)
        this.#savedMarks = log.marks.length
      }
      if (this.#behind) writeMetadata(files, log.folder, toMetadata(log, this.#info))
      this.#behind = false
    } catch {
      // Derived, all of it: on a full disk a listing has to look into the log, and the next lease tries again.
    }
  }

  #closeLog(): void {
    if (this.#log !== undefined) this.#env.files.close(this.#log.fd)
    this.#log = undefined
    this.#info = undefined
    this.#behind = false
    this.#checked = false
  }
}

function isViewOf(log: OpenLog | undefined, view: LogView): boolean {
  if (log === undefined) return false
  return (
    log.log === view.log &&
    log.next === view.next &&
    view.torn === 0 &&
    log.size === view.parts.at(-1)?.end.offset &&
    log.part.name === view.parts.at(-1)?.name
  )
}

function checkExpect(log: OpenLog | undefined, expect: Head | 0, session: string): OpenLog {
  if (log === undefined) throw conflict(session, "there is no such log", undefined)
  if (expect === 0 || log.log !== expect.log)
    throw conflict(session, "the log was deleted or replaced meanwhile", pathOf(log))
  if (log.next !== expect.next) {
    throw conflict(session, `its next line is ${log.next}, not ${expect.next}: another writer was there`, pathOf(log))
  }
  return log
}

function conflict(session: string, why: string, at: string | undefined): StorageError {
  return new StorageError("conflict", `Nothing was appended to session ${session}: ${why}.`, {
    session,
    ...(at === undefined ? {} : { at }),
  })
}
