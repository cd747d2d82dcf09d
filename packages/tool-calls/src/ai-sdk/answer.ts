/**
 * The calls of one answer of the model, by their places: of its calls the SDK executes some with `run`, and gives results to the others itself, as to
 * those whose input is not valid. Ids do not tell them apart, since local models repeat them.
 */
import { type AiSdkCallEnd, type AiSdkEntry, fromAiSdkCall } from "@sessions/providers/ai-sdk"
import type { ExecutedCall } from "./wrap.ts"

interface AnsweredCall extends ExecutedCall {
  readonly mayRun: boolean
}

export class Answer {
  readonly entry: AiSdkEntry
  /** The id of its entry, once the append has begun. */
  stored?: Promise<string>
  readonly #calls: readonly AnsweredCall[]
  /** The places of those whose results `run` appends. */
  readonly #executed = new Set<number>()

  constructor(event: AiSdkCallEnd) {
    this.entry = fromAiSdkCall(event)
    this.#calls = callsOf(event)
  }

  /** The place of a call that the SDK executes now; undefined if it is of no call of this answer. */
  execute({ id, input }: ExecutedCall): number | undefined {
    const left = [...this.#calls.entries()].filter(([at, call]) => call.id === id && !this.#executed.has(at))
    const same = left.find(([, call]) => call.mayRun && call.input === input)
    const [place] = same ?? left.find(([, call]) => call.mayRun) ?? []
    if (place !== undefined) this.#executed.add(place)
    return place
  }

  /**
   * Those of the results that the SDK has given itself. It gives them before it executes the others, so of results with one id they are the first.
   * `place` if the answer has several calls with the id.
   */
  given(results: readonly AiSdkEntry[]): readonly { readonly entry: AiSdkEntry; readonly place: number | undefined }[] {
    const ids = new Set(this.#calls.map(({ id }) => id))
    const others = results.filter((entry) => !ids.has(callIdOf(entry) ?? ""))
    return [
      ...[...ids].flatMap((id) =>
        this.#givenOf(
          id,
          results.filter((entry) => callIdOf(entry) === id),
        ),
      ),
      ...others.map((entry) => ({ entry, place: undefined })),
    ]
  }

  #givenOf(id: string, results: readonly AiSdkEntry[]): ReturnType<Answer["given"]> {
    const calls = [...this.#calls.entries()].filter(([, call]) => call.id === id)
    const left = calls.filter(([at]) => !this.#executed.has(at))
    // A call that waits for approval has no result yet.
    const places = [...left.filter(([, { mayRun }]) => !mayRun), ...left.filter(([, { mayRun }]) => mayRun)]
    const given = results.slice(0, Math.max(0, results.length - (calls.length - left.length)))
    return given.map((entry, index) => ({ entry, place: calls.length === 1 ? undefined : places[index]?.[0] }))
  }
}

/** Of a result. */
export function callIdOf({ message }: AiSdkEntry): string | undefined {
  return message.role === "toolResult" ? message.toolCallId : undefined
}

/** In the order of the blocks of the entry. */
function callsOf({ content }: AiSdkCallEnd): readonly AnsweredCall[] {
  const seen = new Set<object>()
  const calls: AnsweredCall[] = []
  for (const part of content) {
    const { type, toolCallId, input, invalid, providerExecuted } = part as Readonly<Record<string, unknown>>
    if (type !== "tool-call" || providerExecuted === true) continue
    // `generateText` has the first of several calls with one id in the place of each.
    const isStandIn = seen.has(part)
    seen.add(part)
    calls.push({ id: String(toolCallId), input: isStandIn ? undefined : input, mayRun: isStandIn || invalid !== true })
  }
  return calls
}
