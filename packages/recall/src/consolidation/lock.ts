/**
 * The lock of a consolidation: a file with a unix timestamp, changed by compare-and-set alone. Its fraction is random, so that two holders
 * in the same second have different texts.
 */
import { type CallOptions, checkSignal, createQueue, hasStorageCode } from "@sessions/core/storage"
import { RecallError } from "../error.ts"
import { CONSOLIDATION_FILES } from "../files/names.ts"
import type { MemoryFiles } from "../files/types.ts"
import { signalOf } from "../signal.ts"
import type { ConsolidationLock } from "./types.ts"

export interface LockOptions extends CallOptions {
  readonly lockStale: number
  readonly now: () => number
}

const NAME = CONSOLIDATION_FILES.lock

/** A holder refreshes it so often that several may fail before it is stale: every 10 min of an hour. */
const REFRESHES = 6
/** A holder that could not refresh it for half of the time does not trust it any more: clocks differ. */
const TRUSTED_SHARE = 0.5

/** Whether no other process holds the lock. */
export async function isLockFree(files: MemoryFiles, o: LockOptions): Promise<boolean> {
  const file = await files.read(NAME, signalOf(o))
  return file === undefined || isStale(file.text, o)
}

export async function takeLock(files: MemoryFiles, o: LockOptions): Promise<HeldLock | undefined> {
  const found = await files.read(NAME, signalOf(o))
  if (found !== undefined && !isStale(found.text, o)) return undefined
  const at = o.now()
  const text = stampAt(at)
  const version = await put(files, text, found?.version ?? null, o)
  return version === undefined ? undefined : new HeldLock(files, o, version, at)
}

export class HeldLock implements ConsolidationLock {
  readonly #files: MemoryFiles
  readonly #now: () => number
  readonly #trusted: number
  readonly #stop = new AbortController()
  readonly #timer: ReturnType<typeof setInterval>
  #version: string
  #refreshedAt: number
  /** Reads and refreshes run one after another. */
  readonly #queue = createQueue()

  constructor(files: MemoryFiles, { lockStale, now }: LockOptions, version: string, at: number) {
    this.#files = files
    this.#now = now
    this.#version = version
    this.#refreshedAt = at
    this.#trusted = lockStale * TRUSTED_SHARE
    this.#timer = setInterval(() => void this.refresh().catch(() => undefined), Math.max(1, lockStale / REFRESHES))
    // Must not keep the process alive. A page has no such method.
    ;(this.#timer as { unref?: () => void }).unref?.()
  }

  get signal(): AbortSignal {
    return this.#stop.signal
  }

  check(): Promise<void> {
    return this.#inOrder(async () => {
      const file = await this.#files.read(NAME)
      if (file?.version !== this.#version) throw this.#lose()
      if (!this.#isTrusted()) await this.#renew()
    })
  }

  refresh(): Promise<void> {
    return this.#inOrder(() => this.#renew())
  }

  release(): Promise<void> {
    clearInterval(this.#timer)
    return this.#inOrder(async () => {
      await this.#files.delete(NAME, { expect: this.#version })
      this.#lose()
    }).catch((error: unknown) => {
      if (!hasStorageCode(error, "conflict") && !isLost(error)) throw error
    })
  }

  async #renew(): Promise<void> {
    const at = this.#now()
    const version = await put(this.#files, stampAt(at), this.#version, {})
    if (version === undefined) throw this.#lose()
    this.#version = version
    this.#refreshedAt = at
  }

  #isTrusted(): boolean {
    const age = this.#now() - this.#refreshedAt
    return age >= 0 && age < this.#trusted
  }

  /** The error of all later calls. */
  #lose(): RecallError {
    clearInterval(this.#timer)
    const error = new RecallError(
      "lock_lost",
      "Another process has taken over the lock of this consolidation; nothing was written after that.",
    )
    this.#stop.abort(error)
    return error
  }

  #inOrder(work: () => Promise<void>): Promise<void> {
    return this.#queue.run(() => {
      if (this.signal.aborted) throw this.signal.reason
      return work()
    })
  }
}

/** Undefined if another process was first. */
async function put(
  files: MemoryFiles,
  text: string,
  expect: string | null,
  { signal }: CallOptions,
): Promise<string | undefined> {
  checkSignal(signal)
  try {
    // Without the signal: an aborted write may still happen, and would leave a lock without a holder.
    return await files.write(NAME, text, { expect })
  } catch (error) {
    if (hasStorageCode(error, "conflict")) return undefined
    throw error
  }
}

/** A text that is no time is left from a damaged write. A time in the future is that of a clock that was wrong. */
function isStale(text: string, { lockStale, now }: LockOptions): boolean {
  const age = now() - Math.floor(Number.parseFloat(text)) * 1_000
  return !(Math.abs(age) < lockStale)
}

function stampAt(ms: number): string {
  const fraction = crypto.getRandomValues(new Uint32Array(1))[0] as number
  return `${Math.floor(ms / 1_000)}.${String(fraction).padStart(10, "0")}`
}

function isLost(error: unknown): boolean {
  return error instanceof RecallError && error.code === "lock_lost"
}
