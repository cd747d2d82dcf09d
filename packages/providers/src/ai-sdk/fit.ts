/** Model messages that the program has, such as those of a chat, as the provider of a model takes them. */
import type { ContextMessage, ModelMessage } from "@sessions/core"
import { type Fields, fieldsOf } from "@sessions/formats/messages/values"
import { BOOLEAN, checkArgument, checkCall, type Checks, FUNCTION, isBlocks, kind, TIME } from "../shared/check.ts"
import type { RequestDiagnostic } from "../shared/types.ts"
import { providerOf } from "./answer.ts"
import { blockOfPart, resultOfPart } from "./parts.ts"
import { type AiSdkOptions, GOES_ON, isModel, toAiSdk } from "./request.ts"
import { rulesOf } from "./rules.ts"

export interface FitOptions extends Pick<AiSdkOptions, "store" | "now"> {
  /** The model, or its name for a gateway, such as `"openai/gpt-5"`. Default: as of `toAiSdk`. */
  readonly model?: string | { readonly provider: string; readonly modelId?: string }
  /** Called for each kind of change. `entryId` is the place of the first message with it, from "0". Default: none is reported. */
  readonly onDiagnostic?: (diagnostic: RequestDiagnostic) => void
}

const OPTIONS: Checks<FitOptions> = {
  model: kind("a model of the SDK, or its name", (value) => typeof value === "string" || isModel(value)),
  store: BOOLEAN,
  now: TIME,
  onDiagnostic: FUNCTION,
}

const ROLES: readonly unknown[] = ["system", "user", "assistant", "tool"]

/** A message of `useChat` has `parts` in place of a content: it would be sent as an empty one. */
function isMessage({ role, content }: Fields): boolean {
  return ROLES.includes(role) && (typeof content === "string" || isBlocks(content))
}

/**
 * The messages as the model's provider takes them, by the rules of `toAiSdk`: ids of calls, images, whose parts go to whom, where a request begins and
 * ends. Another model may have given the answers. Calls at the end that the user has approved stay for the SDK to execute, and calls of the provider's own
 * that it goes on with stay for the provider. Options of whole messages are not kept: set them on what this returns.
 *
 * ```ts
 * import { fitAiSdk } from "@sessions/providers/ai-sdk"
 *
 * const messages = [{ role: "user" as const, content: "What is the weather in Paris?" }]
 * const fitted = fitAiSdk(messages, { model: "anthropic/claude-sonnet-5-5" })
 * ```
 */
export function fitAiSdk<Message extends object>(messages: readonly Message[], o: FitOptions = {}): Message[] {
  const takes = "model messages, such as those of `await convertToModelMessages(messages)`"
  checkArgument("fitAiSdk", isBlocks(messages), takes, messages)
  const all = messages as readonly Fields[]
  const wrong = all.find((message) => !isMessage(message))
  checkArgument("fitAiSdk", wrong === undefined, takes, wrong)
  checkCall("fitAiSdk", o, OPTIONS)
  const waiting = waitingOf(all, o)
  const fitted = fit([...all, ...waiting.own.map(placeholder)], o, waiting)
  return withDecisions(fitted, waiting, o) as unknown as Message[]
}

function fit(
  messages: readonly Fields[],
  { model, onDiagnostic = () => undefined, ...o }: FitOptions,
  { answer, hosted }: Waiting,
): readonly Fields[] {
  if (messages.length === 0) return []
  const receiver = receiverOf(model)
  const named = typeof model === "string" ? { provider: model } : model
  const items = messages.flatMap((message, i) => {
    const goesOn = i === answer && hosted.length > 0
    const stopReason = goesOn ? GOES_ON : messages[i + 1]?.["role"] === "tool" ? "tool-calls" : undefined
    return itemsOf(message, stopReason, i, receiver)
  })
  const { request, diagnostics } = toAiSdk({ messages: items }, { ...o, ...(named && { model: named }) })
  for (const one of diagnostics) onDiagnostic(one)
  const { instructions } = request
  const system = instructions === undefined ? [] : [{ role: "system", content: instructions }]
  return [...system, ...(request.messages as readonly Fields[])]
}

/** The provider's name in the options of parts; undefined if it is not known. */
function receiverOf(model: FitOptions["model"]): string | undefined {
  return providerOf((typeof model === "string" ? model : model?.provider)?.split("/")[0])
}

/** The last answer, if nothing but results and decisions is behind it: what the SDK or the provider goes on with. */
interface Waiting {
  /** The place of the answer. */
  readonly answer: number
  /** Its calls that the SDK is to execute. */
  readonly own: readonly Fields[]
  /** Its calls that the provider goes on with. */
  readonly hosted: readonly Fields[]
  /** What the user was asked, and has decided. */
  readonly requests: readonly Fields[]
  readonly decisions: readonly Fields[]
}

function waitingOf(messages: readonly Fields[], { model, store = true }: FitOptions): Waiting {
  const answer = messages.findLastIndex(({ role }) => role === "assistant")
  const behind = messages.slice(answer + 1)
  if (answer < 0 || behind.some(({ role }) => role !== "tool"))
    return { answer, own: [], hosted: [], requests: [], decisions: [] }
  const [asked, given] = [partsOf(messages[answer]), behind.flatMap(partsOf)]
  const decisions = given.filter(({ type }) => type === "tool-approval-response")
  const requests = asked.filter(
    ({ type, approvalId }) =>
      type === "tool-approval-request" && decisions.some((decision) => decision["approvalId"] === approvalId),
  )
  const isDecided = (call: Fields) => requests.some(({ toolCallId }) => toolCallId === call["toolCallId"])
  const isHosted = ({ type, providerExecuted }: Fields) => type === "tool-call" && providerExecuted === true
  const isOwn = ({ type, providerExecuted }: Fields) => type === "tool-call" && providerExecuted !== true
  const hasResult = (parts: readonly Fields[], call: Fields) =>
    parts.some(({ type, toolCallId }) => type === "tool-result" && toolCallId === call["toolCallId"])
  const { pauses, decides } = rulesOf(typeof model === "string" ? model : model?.provider)
  const last = asked.findLast(({ type }) => type !== "tool-approval-request")
  const isPaused = pauses && last !== undefined && isHosted(last) && !asked.some(isOwn)
  const goesOn = (call: Fields) => (isDecided(call) ? decides && store : isPaused)
  return {
    answer,
    // Of calls with one id the SDK executes one.
    own: asked.filter(
      (call, i) =>
        isOwn(call) &&
        isDecided(call) &&
        !hasResult(given, call) &&
        asked.findIndex((one) => isOwn(one) && one["toolCallId"] === call["toolCallId"]) === i,
    ),
    // A refusal is a result of the SDK's, and for the provider a decision.
    hosted: asked.filter((call) => isHosted(call) && goesOn(call) && !hasResult(asked, call)),
    requests,
    decisions,
  }
}

/** Begins no output of a tool. */
const WAITS = "\0waits "

/** Stands for the result of a call that the SDK is to execute, until its id is known. */
function placeholder({ toolCallId, toolName }: Fields): Fields {
  const output = { type: "text", value: `${WAITS}${String(toolCallId)}` }
  return { role: "tool", content: [{ type: "tool-result", toolCallId, toolName, output }] }
}

/** The id in the chat of the call whose result the part stands for. */
function heldBy({ output }: Fields): string | undefined {
  const { value } = fieldsOf(output)
  return typeof value === "string" && value.startsWith(WAITS) ? value.slice(WAITS.length) : undefined
}

/** The user's decisions behind the last answer, in place of the results that they stand for. */
function withDecisions(
  fitted: readonly Fields[],
  { own, hosted, requests, decisions }: Waiting,
  { onDiagnostic = () => undefined }: FitOptions,
): readonly Fields[] {
  const at = fitted.findLastIndex(({ role }) => role === "assistant")
  const [answer, behind] = [partsOf(fitted[at]), fitted.slice(at + 1)]
  const results = behind.flatMap((message) => (message["role"] === "tool" ? partsOf(message) : []))
  const sent = hosted.filter(({ toolCallId }) => answer.some((part) => part["toolCallId"] === toolCallId))
  /** By the ids in the chat. Those of the provider's own calls stay. */
  const ids = new Map<unknown, unknown>([
    ...results.map((part) => [heldBy(part), part["toolCallId"]] as const),
    ...sent.map(({ toolCallId }) => [toolCallId, toolCallId] as const),
  ])
  if (own.length === 0 && !sent.some(({ toolCallId }) => requests.some((one) => one["toolCallId"] === toolCallId)))
    return fitted
  const asked = requests.filter(({ toolCallId }) => ids.has(toolCallId))
  const given = decisions.filter(({ approvalId }) => asked.some((one) => one["approvalId"] === approvalId))
  // The SDK executes calls if the decisions are last.
  const left = behind.filter(({ role }) => role === "user")
  if (left.length > 0) onDiagnostic(LATER)
  return [
    ...fitted.slice(0, at).map(withoutHeld),
    {
      ...fitted[at],
      content: [...answer, ...asked.map((one) => ({ ...one, toolCallId: ids.get(one["toolCallId"]) }))],
    },
    { role: "tool", content: [...results.filter((part) => heldBy(part) === undefined), ...given] },
  ]
}

const LATER: RequestDiagnostic = {
  code: "images",
  message:
    "Images of results are not sent before the calls that the user has approved have been executed; the next request has them.",
  count: 1,
  entryId: "",
}

/** Of an answer that is sent as several: calls in those before the last one are not executed. */
function withoutHeld(message: Fields): Fields {
  if (message["role"] !== "tool" || !partsOf(message).some((part) => heldBy(part) !== undefined)) return message
  const output = { type: "error-text", value: "The call was approved, but not executed. Call it again." }
  return {
    ...message,
    content: partsOf(message).map((part) => (heldBy(part) === undefined ? part : { ...part, output })),
  }
}

function partsOf(message: Fields | undefined): readonly Fields[] {
  const content = message?.["content"]
  if (typeof content === "string") return [{ type: "text", text: content }]
  return Array.isArray(content) ? (content as readonly Fields[]) : []
}

function itemsOf(
  message: Fields,
  stopReason: string | undefined,
  index: number,
  receiver: string | undefined,
): readonly ContextMessage<ModelMessage>[] {
  const item = (one: object) => ({ entryId: String(index), kind: "message", message: one as ModelMessage }) as const
  const parts = partsOf(message)
  const { role } = message
  if (role === "tool")
    return parts.flatMap((part) => (part["type"] === "tool-result" ? [item(resultOfPart(part))] : []))
  // Decisions have been executed: their results are there.
  const content = parts.filter(({ type }) => type !== "tool-approval-request").map(blockOfPart)
  if (role !== "assistant") return [item({ role, content })]
  const reason = stopReason === undefined ? {} : { stopReason }
  return [item({ role, content, provider: makerOf(parts, receiver), ...reason })]
}

/** Whose options the parts have. The receiver's, if they have none: the messages do not name their models. */
function makerOf(parts: readonly Fields[], receiver: string | undefined): string | undefined {
  const names = parts.flatMap(({ providerOptions }) => Object.keys(fieldsOf(providerOptions)))
  return names.length === 0 || (receiver !== undefined && names.includes(receiver)) ? receiver : names[0]
}
