/** Writes the chunks of a stream to its log while they are generated. */
import { type Entry, hasCode, type Session, type SessionError } from "@sessions/core"
import { type Chunk, EventReader } from "./chunks.ts"
import { ALIVE_ENTRY, chunksEntry, StreamState } from "./log.ts"

export interface RecordOptions {
  readonly session: Session
  readonly batchMs: number
  readonly heartbeatMs: number
  /** The run is to stop. */
  readonly stop: () => void
  readonly onError: (error: unknown) => void
}

/**
 * Reads the stream to its end, also if the page has gone or the storage fails. Resolves when all chunks are in the log, or can no longer
 * be written, with the error of the stream if it has failed.
 */
export async function recordStream(
  stream: ReadableStream<string>,
  { session, stop, ...o }: RecordOptions,
): Promise<{ readonly isWritten: boolean; readonly isComplete: boolean }> {
  const state = new StreamState()
  const look = (entries: readonly Entry[]): void => {
    for (const entry of entries) state.take(entry)
    if (state.isStopped || state.end !== undefined) stop()
  }
  const end = new AbortController()
  const off = session.on("foreign", ({ entries }) => look(entries))
  const offOwn = session.on("appended", ({ entries }) => look(entries))
  const writer = new ChunkWriter(session, stop, o)
  // Chunks are written whether or not the log can be followed or read: a failure of that shows in the writes, but for that of a blob, and for
  // lost lines, of which an open session is told once.
  session.follow({ signal: end.signal }).catch((error: unknown) => {
    if (hasCode(error, "not_found")) stop()
    else if ((error as SessionError).lost !== undefined) writer.fail(error)
  })
  const read = readAll(stream, (chunks) => writer.push(chunks))
  try {
    try {
      for await (const entry of session.entries()) look([entry])
    } catch (error) {
      o.onError(error)
    }
    const isComplete = await read
    return { isWritten: await writer.end(), isComplete }
  } finally {
    end.abort()
    off()
    offOwn()
  }
}

/** Reads the stream to its end. False if the stream has failed before its end. */
export async function readAll(
  stream: ReadableStream<string>,
  push: (chunks: readonly Chunk[]) => void,
): Promise<boolean> {
  const events = new EventReader()
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return true
      push(events.read(value))
    }
  } catch {
    return false
  }
}

/** Units of an entry with chunks; more are written with the next one. */
const MOST_UNITS = 250_000
/** Failures in a row after which the end of a stream is no longer waited for. Observers count the run as lost by then. */
const MOST_FAILURES = 20

type WriterOptions = Pick<RecordOptions, "batchMs" | "heartbeatMs" | "onError">

/** Writes what has come, one batch after the other. The first chunk of a batch waits for others. */
class ChunkWriter {
  readonly #session: Session
  readonly #stop: () => void
  readonly #o: WriterOptions
  readonly #done: Promise<boolean>
  #pending: Chunk[] = []
  #written = 0
  #isEnded = false
  #failure: { readonly error: unknown } | undefined
  #wake: (() => void) | undefined

  constructor(session: Session, stop: () => void, o: WriterOptions) {
    this.#session = session
    this.#stop = stop
    this.#o = o
    this.#done = this.#run()
  }

  push(chunks: readonly Chunk[]): void {
    this.#pending.push(...chunks)
    if (this.#pending.length > 0) this.#wake?.()
  }

  /** The next write fails with this error: chunks that were written are gone. */
  fail(error: unknown): void {
    this.#failure = { error }
  }

  /** Resolves with whether all chunks are in the log. */
  end(): Promise<boolean> {
    this.#isEnded = true
    this.#wake?.()
    return this.#done
  }

  async #run(): Promise<boolean> {
    const { batchMs, heartbeatMs, onError } = this.#o
    let failures = 0
    while (this.#pending.length > 0 || !this.#isEnded) {
      if (this.#pending.length === 0) await this.#until(heartbeatMs, () => this.#pending.length > 0 || this.#isEnded)
      if (this.#pending.length > 0 || failures > 0)
        await this.#until(batchMs * (1 + failures), () => this.#isEnded && failures === 0)
      if (this.#pending.length === 0 && this.#isEnded) break
      try {
        await this.#write()
        failures = 0
      } catch (error) {
        failures++
        const isPassing = hasCode(error, "unavailable") || hasCode(error, "indeterminate")
        if (isPassing && (failures < MOST_FAILURES || !this.#isEnded)) continue
        // The chat was deleted: no one wants the answer.
        if (hasCode(error, "not_found")) this.#stop()
        else onError(error)
        return false
      }
    }
    if (this.#failure !== undefined) onError(this.#failure.error)
    return this.#failure === undefined
  }

  async #write(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure.error
    if (this.#pending.length === 0) return void (await this.#session.append(ALIVE_ENTRY))
    const chunks = firstChunks(this.#pending)
    await this.#session.append(chunksEntry(this.#written, chunks))
    this.#written += chunks.length
    this.#pending.splice(0, chunks.length)
  }

  /** Waits this many milliseconds, or until the condition is true; it is asked again after each `push` and `end`. */
  #until(ms: number, isTrue: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer)
        this.#wake = undefined
        resolve()
      }
      const timer = setTimeout(done, ms)
      this.#wake = () => {
        if (isTrue()) done()
      }
      this.#wake()
    })
  }
}

function firstChunks(chunks: readonly Chunk[]): readonly Chunk[] {
  let units = 0
  const end = chunks.findIndex((chunk) => (units += JSON.stringify(chunk).length) > MOST_UNITS)
  return end === -1 ? [...chunks] : chunks.slice(0, Math.max(1, end))
}
