/** Model messages that the program has, such as those of a chat, as the provider of a model takes them. */
import type { ContextMessage, ModelMessage } from "@sessions/core"
import { type Fields, fieldsOf } from "@sessions/formats/messages/values"
import type { RequestDiagnostic } from "../shared/types.ts"
import { providerOf } from "./answer.ts"
import { blockOfPart, resultOfPart } from "./parts.ts"
import { type AiSdkOptions, toAiSdk } from "./request.ts"

export interface FitOptions extends Pick<AiSdkOptions, "store"> {
  /** The model, or its name for a gateway, such as `"openai/gpt-5"`. Default: as of `toAiSdk`. */
  readonly model?: string | { readonly provider: string; readonly modelId?: string }
  /** Called for each kind of change. `entryId` is the place of the first message with it, from "0". Default: none is reported. */
  readonly onDiagnostic?: (diagnostic: RequestDiagnostic) => void
}

/**
 * The messages as the model's provider takes them, by the rules of `toAiSdk`: ids of calls, images, whose parts go to whom, where a request begins and
 * ends. Another model may have given the answers. Calls at the end that the user has approved stay for the SDK to execute; an answer at the end that
 * its provider goes on with stays as it is. Options of whole messages are not kept: set them on what this returns.
 *
 * ```ts
 * import { fitAiSdk } from "@sessions/providers/ai-sdk"
 *
 * const messages = [{ role: "user" as const, content: "What is the weather in Paris?" }]
 * const fitted = fitAiSdk(messages, { model: "anthropic/claude-sonnet-5-5" })
 * ```
 */
export function fitAiSdk<Message extends object>(messages: readonly Message[], o: FitOptions = {}): Message[] {
  const all = messages as readonly Fields[]
  const { answer, open } = waitingOf(all)
  const isOfProvider = open.some((part) => part["providerExecuted"] === true)
  const fitted = isOfProvider ? undefined : withDecisions(fit([...all, ...open.map(placeholder)], o), all.slice(answer))
  return (fitted ?? [...fit(all.slice(0, answer), o), ...all.slice(answer)]) as unknown as Message[]
}

function fit(
  messages: readonly Fields[],
  { model, onDiagnostic = () => undefined, ...o }: FitOptions,
): readonly Fields[] {
  if (messages.length === 0) return []
  const named = typeof model === "string" ? { provider: model } : model
  const receiver = providerOf(named?.provider.split("/")[0])
  const items = messages.flatMap((message, i) => itemsOf(message, messages[i + 1], i, receiver))
  const { request, diagnostics } = toAiSdk({ messages: items }, { ...o, ...(named && { model: named }) })
  for (const one of diagnostics) onDiagnostic(one)
  const { instructions } = request
  const system = instructions === undefined ? [] : [{ role: "system", content: instructions }]
  return [...system, ...(request.messages as readonly Fields[])]
}

/** The last answer, if nothing but results and decisions is behind it, and its calls without a result: what the SDK or the provider goes on with. */
function waitingOf(messages: readonly Fields[]): { readonly answer: number; readonly open: readonly Fields[] } {
  const answer = messages.findLastIndex(({ role }) => role === "assistant")
  const behind = messages.slice(answer + 1)
  const nothing = { answer: messages.length, open: [] }
  if (answer < 0 || behind.some(({ role }) => role !== "tool")) return nothing
  const [asked, given] = [partsOf(messages[answer]), behind.flatMap(partsOf)]
  const idsOf = (parts: readonly Fields[], type: string, key: string) =>
    new Set(parts.filter((part) => part["type"] === type).map((part) => part[key]))
  const done = idsOf([...asked, ...given], "tool-result", "toolCallId")
  const decided = idsOf(given, "tool-approval-response", "approvalId")
  const approved = idsOf(
    asked.filter(({ approvalId }) => decided.has(approvalId)),
    "tool-approval-request",
    "toolCallId",
  )
  const open = asked.filter(
    ({ type, toolCallId, providerExecuted }) =>
      type === "tool-call" && !done.has(toolCallId) && (providerExecuted === true || approved.has(toolCallId)),
  )
  return open.length === 0 ? nothing : { answer, open }
}

/** Begins no output of a tool. */
const WAITS = "\0waits "

/** Stands for the result of a call that the SDK is to execute, until its id is known. */
function placeholder({ toolCallId, toolName }: Fields): Fields {
  const output = { type: "text", value: `${WAITS}${String(toolCallId)}` }
  return { role: "tool", content: [{ type: "tool-result", toolCallId, toolName, output }] }
}

/** The user's decisions in place of the results that they stand for. Undefined: something else is at the end, as images of results are. */
function withDecisions(fitted: readonly Fields[], tail: readonly Fields[]): readonly Fields[] | undefined {
  if (tail.length === 0) return fitted
  const last = fitted.at(-1)
  const answer = fitted.findLastIndex(({ role }) => role === "assistant")
  if (last?.["role"] !== "tool" || answer !== fitted.length - 2) return undefined
  /** By the ids in the chat. */
  const ids = new Map<unknown, unknown>()
  const results = partsOf(last).filter(({ toolCallId, output }) => {
    const { value } = fieldsOf(output)
    const isHeld = typeof value === "string" && value.startsWith(WAITS)
    if (isHeld) ids.set(value.slice(WAITS.length), toolCallId)
    return !isHeld
  })
  const parts = tail.flatMap(partsOf)
  const asked = parts.filter(({ type, toolCallId }) => type === "tool-approval-request" && ids.has(toolCallId))
  const requests = asked.map((part) => ({ ...part, toolCallId: ids.get(part["toolCallId"]) }))
  const given = parts.filter(
    ({ type, approvalId }) =>
      type === "tool-approval-response" && asked.some((one) => one["approvalId"] === approvalId),
  )
  const before = fitted.slice(0, answer)
  return [
    ...before,
    { ...fitted[answer], content: [...partsOf(fitted[answer]), ...requests] },
    { ...last, content: [...results, ...given] },
  ]
}

function partsOf(message: Fields | undefined): readonly Fields[] {
  const content = message?.["content"]
  if (typeof content === "string") return [{ type: "text", text: content }]
  return Array.isArray(content) ? (content as readonly Fields[]) : []
}

function itemsOf(
  message: Fields,
  next: Fields | undefined,
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
  const stopReason = next?.["role"] === "tool" ? { stopReason: "tool-calls" } : {}
  return [item({ role, content, provider: makerOf(parts, receiver), ...stopReason })]
}

/** Whose options the parts have. The receiver's, if they have none: the messages do not name their models. */
function makerOf(parts: readonly Fields[], receiver: string | undefined): string | undefined {
  const names = parts.flatMap(({ providerOptions }) => Object.keys(fieldsOf(providerOptions)))
  return names.length === 0 || (receiver !== undefined && names.includes(receiver)) ? receiver : names[0]
}
