/**
 * Holds a writer's lock over a burst of appends: takes it with the first one, keeps it fresh, and releases it after a pause or when
 * another writer waits.
 */
import type { Deps } from "../deps.ts"
import type { Lock } from "../lock/lock-file.ts"
import { acquireLock, tryLock } from "../lock/lock.ts"

export interface LeaseHolder {
  /** Nothing that needs the lock is running or queued. */
  isIdle(): boolean
  /** Writes derived files. Called before the lock is released, and every second in a long burst. */
  flush(): void
}

/** The lock is released when it was not used for one to two of these. */
const IDLE_MS = 20
/** How often a long burst updates what listings of other processes read. */
const FLUSH_EVERY_MS = 1_000

export class Lease {
  readonly #deps: Deps
  readonly #path: string
  readonly #holder: LeaseHolder
  #lock: Lock | undefined
  /** One per lease, not one per append. */
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Since the timer was started. */
  #isUsed = false
  #flushedAt = 0
  #polite = false
  #refreshes = 0

  constructor(deps: Deps, path: string, holder: LeaseHolder) {
    this.#deps = deps
    this.#path = path
    this.#holder = holder
  }

  /** The lock was taken from an owner that may still write. */
  get fence(): boolean {
    return this.#lock?.fence === true
  }

  /** How often the lock file was refreshed; other periodic checks follow it. */
  get refreshes(): number {
    return this.#refreshes + (this.#lock?.refreshes ?? 0)
  }

  isCertain(): boolean {
    return this.#lock?.isCertain() === true
  }

  /** A lock file that cannot be read or touched counts as lost. */
  refresh(now = false): "held" | "wanted" | "lost" {
    try {
      return this.#lock?.refresh(now) ?? "lost"
    } catch {
      return "lost"
    }
  }

  /** Resolves with the lock held; true if it was not held before, so that the log may have changed. */
  async take(signal: AbortSignal | undefined, whenBusy: () => void): Promise<boolean> {
    const state = this.refresh()
    if (state === "held") return false
    if (state === "wanted") this.#yield()
    this.lose()
    const { files, lockTimeout } = this.#deps
    const polite = this.#polite
    this.#polite = false
    if (!polite) this.#lock = tryLock(files, this.#path)
    if (this.#lock === undefined) {
      whenBusy()
      this.#lock = await acquireLock(files, this.#path, { timeout: lockTimeout, signal, polite })
    }
    this.used()
    return true
  }

  /** Keeps the lock for at least another {@link IDLE_MS}. Reads no clock, since every append calls it. */
  used(): void {
    this.#isUsed = true
    if (this.#timer === undefined && this.#lock !== undefined) this.#startTimer()
  }

  release(): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer)
    this.#timer = undefined
    const lock = this.#lock
    if (lock === undefined) return
    // If the lock was taken over, newer files of the other writer must not be overwritten.
    if (this.refresh(true) !== "lost") this.#holder.flush()
    this.lose()
    try {
      lock.release()
    } catch {
      // It is no longer refreshed, so others take it over in time.
    }
  }

  /** Forgets the lock; another process may hold it by now. */
  lose(): void {
    this.#refreshes = this.refreshes + 1
    this.#lock = undefined
  }

  #yield(): void {
    this.release()
    this.#polite = true
  }

  #startTimer(): void {
    this.#isUsed = false
    this.#timer = setTimeout(this.#tick, IDLE_MS)
  }

  readonly #tick = (): void => {
    this.#timer = undefined
    if (this.#lock === undefined) return
    const idle = this.#holder.isIdle()
    if (idle && !this.#isUsed) return this.release()
    // Keeps the lock fresh while a task runs. If it is lost or wanted by then, the next task acts on that.
    const state = this.refresh()
    if (state === "wanted" && idle) return this.#yield()
    const now = performance.now()
    if (state === "held" && idle && now - this.#flushedAt > FLUSH_EVERY_MS) {
      this.#flushedAt = now
      this.#holder.flush()
    }
    this.#startTimer()
  }
}
