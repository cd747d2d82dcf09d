/**
 * Loops with the AI SDK: the answer of the model is appended before its tools run. The SDK calls `onLanguageModelCallEnd` with the whole answer
 * between the two, and `onStepEnd` when the tools have ended, before it asks the model again.
 */
import type { NewEntry } from "@sessions/core"
import { createIds } from "@sessions/core/format"
import { checkOptions, type OptionNames } from "@sessions/core/storage"
import type { Appendable } from "@sessions/providers"
import { type AiSdkCallEnd, type AiSdkEntry, type AiSdkStepEnd, fromAiSdk } from "@sessions/providers/ai-sdk"
import { checkWrap } from "../checks.ts"
import { notRecordedError } from "../errors.ts"
import { resultId } from "../key.ts"
import type { PlacedCall, ToolCalls } from "../types.ts"
import { Answer, callIdOf } from "./answer.ts"
import { type ExecutedCall, type ToolSet, withRun } from "./wrap.ts"

export interface RecordOptions<Tools extends ToolSet> {
  /** That of the running turn, on which `calls` was made, or the same session. */
  readonly session: Appendable
  readonly calls: Pick<ToolCalls, "run">
  readonly tools: Tools
}

const OPTIONS: OptionNames<RecordOptions<ToolSet>> = { session: 1, calls: 1, tools: 1 }

/** The options that the SDK gets: `tools`, `onLanguageModelCallEnd` and `onStepEnd`. */
export interface AiSdkRecorder<Tools extends ToolSet> {
  readonly tools: Tools
  readonly onLanguageModelCallEnd: (event: AiSdkCallEnd) => void
  readonly onStepEnd: (step: AiSdkStepEnd) => Promise<void>
  /**
   * Appends what is not in the log yet: of `appendAiSdkStream(recorder, stream)`, or all of `fromAiSdk(await generateText(…))`. Rejects with the error
   * with which a call was refused or a step was not appended; nothing is executed and appended from then on. Waits for the tools that run.
   */
  readonly append: (entries: NewEntry | readonly NewEntry[]) => Promise<void>
}

/**
 * Records the steps of one call of `streamText`, `generateText` or an agent. The answer of the model is in the log before its first tool runs,
 * all tools are run by `calls.run`, and each step is in the log before the next one begins.
 *
 * ```ts
 * import { recordAiSdk } from "@sessions/tool-calls/ai-sdk"
 *
 * const { tools, onLanguageModelCallEnd, onStepEnd, append } = recordAiSdk({ session: turn, calls, tools: { charge } })
 * await append(fromAiSdk(await generateText({ model, ...request, tools, onLanguageModelCallEnd, onStepEnd })))
 * ```
 */
export function recordAiSdk<Tools extends ToolSet>(options: RecordOptions<Tools>): AiSdkRecorder<Tools> {
  checkOptions("recordAiSdk", options, OPTIONS)
  const { session, calls, tools } = options
  checkWrap("recordAiSdk", calls, tools)
  const recorder = new Recorder(session)
  const run: Parameters<typeof withRun>[1] = async (call, execute, o) => {
    const placed = await recorder.begin(call)
    return calls.run(placed ?? { id: call.id }, execute, o).catch((error: unknown) => {
      // A run that was stopped is no failure of this loop.
      if (o?.signal?.aborted !== true) recorder.fail(error)
      throw error
    })
  }
  const running = new Set<Promise<unknown>>()
  const wrapped = withRun(tools, (...args) => {
    const call = run(...args).finally(() => running.delete(call))
    running.add(call)
    return call
  })
  let [ended, appended] = [0, 0]
  return {
    tools: wrapped,
    onLanguageModelCallEnd: (event) => recorder.answered(event),
    // The SDK passes over what its callbacks throw; `append` reports it.
    onStepEnd: (step) =>
      recorder
        .step(ended++, fromAiSdk({ responseMessages: step.response.messages, steps: [step] }))
        .catch(() => undefined),
    async append(entries) {
      try {
        for (const step of stepsOf([entries].flat() as readonly AiSdkEntry[]))
          await (step[0]?.message.role === "assistant" ? recorder.step(appended++, step) : recorder.results(step))
      } finally {
        // A stream that was aborted ends before its tools. As long as one runs, its turn must have the lease.
        await Promise.allSettled(running)
      }
    },
  }
}

/** The entries of each step: an answer and the results behind it. Results of calls that a person has approved are before the first one. */
function stepsOf(entries: readonly AiSdkEntry[]): readonly (readonly AiSdkEntry[])[] {
  const steps: AiSdkEntry[][] = []
  for (const entry of entries) {
    const step = steps.at(-1)
    if (step === undefined || entry.message.role === "assistant") steps.push([entry])
    else step.push(entry)
  }
  return steps
}

const newId = createIds()

class Recorder {
  readonly #session: Appendable
  /** Of the steps, in their order. */
  readonly #answers: Answer[] = []
  readonly #steps: Promise<void>[] = []
  /** The calls of earlier requests whose results `run` appends. */
  readonly #approved = new Set<string>()
  #failure: { readonly error: unknown } | undefined

  constructor(session: Appendable) {
    this.#session = session
  }

  answered(event: AiSdkCallEnd): void {
    this.#answers.push(new Answer(event))
  }

  fail(error: unknown): void {
    this.#failure ??= { error }
  }

  /** Resolves when the answer with the call is in the log, with the call's place there. */
  async begin(call: ExecutedCall): Promise<PlacedCall | undefined> {
    const answer = this.#answers.at(-1)
    const place = answer?.execute(call)
    if (place === undefined) this.#approved.add(call.id)
    this.#throwFailure()
    // A call that a person has approved since is in the log, from an earlier request.
    if (answer === undefined || place === undefined) return undefined
    const before = this.#answers.length - 2
    if (before >= 0 && this.#steps[before] === undefined) this.fail(notRecordedError())
    await this.#steps[before]
    this.#throwFailure()
    const entryId = await (answer.stored ??= this.#appendAnswer(answer))
    return { callId: call.id, call: place, entryId }
  }

  /** Appends what is missing of a step. Both callers may have it first. */
  step(index: number, entries: readonly AiSdkEntry[]): Promise<void> {
    return (this.#steps[index] ??= this.#appendStep(this.#answers[index], entries))
  }

  /** Appends the results of calls that a person has approved, or denied, but for those that `run` has appended. */
  results(entries: readonly AiSdkEntry[]): Promise<void> {
    return this.#append(() => entries.filter((entry) => !this.#approved.has(callIdOf(entry) ?? "")))
  }

  async #appendStep(known: Answer | undefined, [answer, ...results]: readonly AiSdkEntry[]): Promise<void> {
    if (answer === undefined) return
    const id = await known?.stored
    if (known === undefined || id === undefined) return this.#append(() => [answer, ...results])
    await this.#append(() => [...approvalsOf(id, answer), ...known.given(results).map((given) => toEntry(id, given))])
  }

  #append(missing: () => readonly NewEntry[]): Promise<void> {
    return this.#failing(async () => {
      this.#throwFailure()
      const entries = missing()
      if (entries.length > 0) await this.#session.append(entries)
    })
  }

  #appendAnswer({ entry }: Answer): Promise<string> {
    return this.#failing(async () => {
      const id = newId()
      await this.#session.append({ id, ...entry })
      return id
    })
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error
  }

  async #failing<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      this.fail(error)
      throw error
    }
  }
}

/** One that has a place is named by it, as those of `run` are: others of its message have the id of its call. */
function toEntry(target: string, { entry, place }: ReturnType<Answer["given"]>[number]): NewEntry {
  return place === undefined ? entry : { id: resultId({ target, call: place }), ...entry }
}

/** An edit of an answer that is in the log: the SDK asks for the approval of other calls of it when its first tool runs. */
function approvalsOf(targetId: string, { message }: AiSdkEntry): readonly NewEntry[] {
  const asks = message.content.some((block) => fieldsOf(block["part"])["type"] === "tool-approval-request")
  return asks ? [{ type: "context_edit", targetId, replacement: { content: message.content } }] : []
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}
