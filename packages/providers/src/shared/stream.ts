/** Reads the stream of an answer to its end and appends the message: whole, or what arrived until it was aborted or failed. */
import { type AssistantMessage, hasCode } from "@sessions/core"
import { errorText } from "./answer.ts"
import { checkAppendable, checkCall, type Checks, checkStream, STREAM } from "./check.ts"
import type { Appendable, StreamedEntry, StreamOptions } from "./types.ts"

/** Builds messages from the events of a stream. */
export interface Accumulator<E> {
  add(event: E): void
  /** Whether the provider has said that the answer is complete. */
  readonly isComplete: boolean
  /** The error that the stream has reported by an event. */
  readonly failure?: unknown
  /** The entries of steps that have ended since the last call, for streams of several steps. */
  take?(): readonly StreamedEntry[]
  /** What has arrived and was not taken: a message of the assistant, and results of its calls. None if nothing has. */
  entries(): readonly StreamedEntry[]
}

/** `call`: the function of the package, whose arguments are checked. `checks`: of the options that only it has. */
export async function appendChecked<E, O extends StreamOptions<E>>(
  call: string,
  session: Appendable,
  stream: AsyncIterable<E> | PromiseLike<AsyncIterable<E>>,
  o: O,
  checks: Checks<Omit<O, keyof StreamOptions<E>>>,
  accumulatorOf: (o: O) => Accumulator<NoInfer<E>>,
): Promise<AssistantMessage> {
  try {
    checkAppendable(call, session)
    checkCall<object>(call, o, { ...STREAM, ...checks })
  } catch (error) {
    // The request has been sent: nobody waits for it, and its failure would end the process.
    Promise.resolve(stream).catch(() => undefined)
    throw error
  }
  return appendStream(session, checkedStream(call, stream), accumulatorOf(o), o)
}

/** What a promise gives is known when it is there; it rejects with the error of the client. */
async function checkedStream<E>(
  call: string,
  stream: AsyncIterable<E> | PromiseLike<AsyncIterable<E>>,
): Promise<AsyncIterable<E>> {
  const events = await stream
  checkStream(call, events)
  return events
}

export async function appendStream<E>(
  session: Appendable,
  stream: AsyncIterable<E> | PromiseLike<AsyncIterable<E>>,
  accumulator: Accumulator<E>,
  { onEvent, signal, keep }: StreamOptions<E>,
): Promise<AssistantMessage> {
  let failed: { readonly error: unknown } | undefined
  let last: AssistantMessage | undefined
  /** The leaf before an append whose success is not known: the session may have its entries, but what is kept goes in their place. */
  let before: string | null | undefined
  const place = {
    get leafId(): string | null {
      return before === undefined ? (session.leafId ?? null) : before
    },
    append: (entries: readonly StreamedEntry[]) => session.append(entries),
  }
  const append = async (entries: readonly StreamedEntry[]) => {
    if (entries.length === 0) return
    before = place.leafId
    await session.append(entries)
    before = undefined
    for (const { message } of entries) if (message.role === "assistant") last = message
  }
  const kept = keep?.begin(place, () => accumulator.entries().map((entry) => interrupted(entry, undefined, signal)))
  try {
    for await (const event of await stream) {
      accumulator.add(event)
      await append(accumulator.take?.() ?? [])
      await onEvent?.(event)
    }
    if (accumulator.failure !== undefined) failed = { error: accumulator.failure }
  } catch (error) {
    failed = { error }
  }
  // Clients end the iteration of an aborted stream without an error.
  const isWhole = failed === undefined && accumulator.isComplete
  const entries = accumulator.entries()
  try {
    await append(isWhole ? entries : entries.map((entry) => interrupted(entry, failed, signal)))
  } catch (error) {
    // After a conflict the conversation has gone on, and nothing can be put behind the question.
    await kept?.end(hasCode(error, "conflict"))
    throw error
  }
  await kept?.end()
  if (failed !== undefined) throw failed.error
  if (last === undefined) throw new Error("The stream of the answer ended before anything of it arrived.")
  return last
}

function interrupted(
  { type, message }: StreamedEntry,
  failed: { readonly error: unknown } | undefined,
  signal: AbortSignal | undefined,
): StreamedEntry {
  if (message.role !== "assistant") return { type, message }
  const isAborted = failed === undefined || signal?.aborted === true || isAbort(failed.error)
  if (isAborted) return { type, message: { ...message, stopReason: "aborted" } }
  return { type, message: { ...message, stopReason: "error", errorMessage: errorText(failed.error) } }
}

function isAbort(error: unknown): boolean {
  // The clients of OpenAI and Anthropic throw an error of no name of its own.
  return error instanceof Error && (error.name === "AbortError" || error.message === "Request was aborted.")
}
