/**
 * Makes the messages of a chat sendable, as `context()` of a session does: a call without a result gets an error result, and what a model
 * would be refused for is left out. The messages themselves stay as they are.
 */
import { isObject } from "./json.ts"
import { isFinished, isTool, type Part, toolName } from "./parts.ts"
import type { ChatMessage } from "./types.ts"

/** A change that was made for the model. The chat keeps what is stored. */
export interface MessageRepair {
  readonly messageId: string
  /** The place of the message among those that were given. */
  readonly index: number
  /** The call, if it is about one. */
  readonly toolCallId?: string
  /** The change, and how to change it for good. */
  readonly message: string
}

export type Report = (repair: MessageRepair) => void

export interface RepairOptions {
  /** Called for each repair. Default: none is reported. */
  readonly onRepair?: Report
}

/** The text of the result that a call without a result gets, as `context()` has it. */
const NO_RESULT_TEXT = "No result was recorded for this tool call."

/**
 * The messages with a result for each call, for functions that convert them themselves, such as `createAgentUIStream`. Messages that need no
 * repair are the same objects. What is repaired is said at `withRepair`.
 */
export function repairMessages<Message extends ChatMessage>(
  messages: readonly Message[],
  { onRepair = () => undefined }: RepairOptions = {},
): Message[] {
  // `validateUIMessages` refuses a message without parts.
  return repairEach(messages, onRepair).filter(
    (message, index) => message.parts.length > 0 || message === messages[index],
  )
}

/** One for each message, perhaps without parts. */
export function repairEach<Message extends ChatMessage>(messages: readonly Message[], onRepair: Report): Message[] {
  return messages.map((message, index) => {
    if (message.role !== "assistant") return message
    const note: Note = (what, toolCallId) => onRepair(repairOf(message, index, what, toolCallId))
    const parts = repairParts(message.parts, index === messages.length - 1, note)
    return parts === undefined ? message : { ...message, parts }
  })
}

export function repairOf({ id }: ChatMessage, index: number, what: string, toolCallId?: string): MessageRepair {
  const call = toolCallId === undefined ? {} : { toolCallId }
  return { messageId: id, index, ...call, message: `The message ${JSON.stringify(id)}: ${what}` }
}

type Note = (what: string, toolCallId?: string) => void

/** Undefined: nothing needs repair. `isLast`: the model continues this message. */
function repairParts(parts: readonly Part[], isLast: boolean, note: Note): Part[] | undefined {
  const lastStep = parts.findLastIndex(isBoundary) + 1
  const repaired = parts.map((part, index): Part | undefined => {
    if (!isTool(part)) return part
    if (hasResult(part)) return asFirstSent(part)
    const id = part["toolCallId"] as string
    const goesOn = isLast && (index >= lastStep ? isExecutedNext(part, parts.slice(lastStep)) : isCaller(part, parts))
    if (goesOn) return part
    const call = `the call ${JSON.stringify(id)} of ${toolName(part)}`
    if (part["state"] === "input-streaming") {
      note(`${call} is left out, because its input has not arrived completely.`, id)
      return undefined
    }
    if (part["providerExecuted"] === true) {
      note(`${call}, which the provider executes, has no result and is left out.`, id)
      return undefined
    }
    note(`${call} has no result; an error result was added. Save the message with a result to replace it.`, id)
    return withErrorResult(part)
  })
  const ended = withoutLooseReasoning(withoutLostItems(parts, repaired, note), note)
  return ended.every((part, index) => part === parts[index]) ? undefined : ended.filter((part) => part !== undefined)
}

function isBoundary({ type }: Part): boolean {
  return type === "step-start" || type === "steering-message"
}

/** A refusal is a result: the AI SDK makes one of it. */
function hasResult(part: Part): boolean {
  return isFinished(part) || (part["state"] === "approval-responded" && !isApproved(part))
}

/**
 * A refused call as the first request after the refusal has it: the AI SDK makes another result of the state that follows, and what a
 * provider has cached would no longer be what it gets.
 */
function asFirstSent(part: Part): Part {
  return part["state"] === "output-denied" ? { ...part, state: "approval-responded" } : part
}

export function isApproved({ approval }: Part): boolean {
  return (approval as { readonly approved?: unknown } | undefined)?.approved === true
}

/** Whether the next request executes a call of the last step: the user has approved it, or the provider goes on with it. */
function isExecutedNext(part: Part, step: readonly Part[]): boolean {
  if (part["state"] === "approval-responded") return true
  if (part["providerExecuted"] !== true || part["state"] !== "input-available") return false
  return isCaller(part, step) || step.every((one) => !isTool(one) || one["providerExecuted"] === true)
}

/** Whether code that the provider runs has called another tool, whose result it waits for. */
function isCaller({ toolCallId, providerExecuted }: Part, parts: readonly Part[]): boolean {
  return providerExecuted === true && parts.some((part) => callerOf(part) === toolCallId)
}

/** The call whose code has made this one, where a provider says it (`caller` of Anthropic's programmatic tool calling). */
function callerOf({ callProviderMetadata }: Part): unknown {
  for (const metadata of Object.values((callProviderMetadata ?? {}) as Record<string, unknown>)) {
    const { caller } = (metadata ?? {}) as { readonly caller?: { readonly toolId?: unknown } | null }
    if (caller?.toolId !== undefined) return caller.toolId
  }
  return undefined
}

function withErrorResult(part: Part): Part {
  const { approval: _, output: _output, preliminary: _preliminary, ...call } = part
  return { ...call, type: part.type, state: "output-error", errorText: NO_RESULT_TEXT }
}

/**
 * Of a step that was cut off, what only names an item of OpenAI's: its store has no answers that were cut off, and the AI SDK sends the ids of items in
 * place of what they say, "Item with id … not found": https://github.com/vercel/ai/issues/8811 (2026-11-29). A text is sent as it is without its id.
 */
function withoutLostItems(
  parts: readonly Part[],
  repaired: readonly (Part | undefined)[],
  note: Note,
): readonly (Part | undefined)[] {
  if (!parts.some(isUnfinished)) return repaired
  const steps = parts.map((_, index) => parts.slice(0, index + 1).filter(isBoundary).length)
  const stepsWith = (is: (part: Part) => boolean) => new Set(steps.filter((_, index) => is(parts[index] as Part)))
  const [unfinished, named] = [stepsWith(isUnfinished), stepsWith(hasItemId)]
  return repaired.map((part, index) => {
    const step = steps[index] as number
    if (part === undefined || !unfinished.has(step) || !named.has(step)) return part
    if (part.type === "text") return hasItemId(part) ? withoutItemId(part) : part
    const isHosted = part["providerExecuted"] === true
    if (!isHosted && (part.type !== "reasoning" || !hasItemId(part))) return part
    const id = isTool(part) ? (part["toolCallId"] as string) : undefined
    const what = id === undefined ? part.type : `the call ${JSON.stringify(id)} of ${toolName(part)}`
    note(`${what} of an answer that was cut off is left out.`, id)
    return undefined
  })
}

function isUnfinished({ state }: Part): boolean {
  return state === "streaming" || state === "input-streaming"
}

const METADATA = ["providerMetadata", "callProviderMetadata", "resultProviderMetadata"] as const

function hasItemId(part: Part): boolean {
  return METADATA.some((key) => Object.values(part[key] ?? {}).some((value) => isObject(value) && "itemId" in value))
}

function withoutItemId({ providerMetadata, ...part }: Part): Part {
  const kept = Object.entries(providerMetadata ?? {}).flatMap(([name, value]) => {
    if (!isObject(value)) return [[name, value]]
    const { itemId: _, ...rest } = value
    return Object.keys(rest).length === 0 ? [] : [[name, rest]]
  })
  const metadata = kept.length === 0 ? {} : { providerMetadata: Object.fromEntries(kept) as object }
  return { ...part, type: part.type, ...metadata }
}

/**
 * Leaves out the reasoning that nothing follows in its step: an answer was cut off, or the call behind it is left out. OpenAI refuses
 * reasoning "without its required following item", and for Anthropic the message is empty if the reasoning has no signature yet.
 */
function withoutLooseReasoning(parts: readonly (Part | undefined)[], note: Note): readonly (Part | undefined)[] {
  let isFollowed = false
  const kept = parts.toReversed().map((part) => {
    if (part === undefined) return part
    if (isBoundary(part)) isFollowed = false
    else if (part.type !== "reasoning") isFollowed ||= isContent(part)
    else if (!isFollowed) {
      note("reasoning that nothing follows is left out.")
      return undefined
    }
    return part
  })
  return kept.reverse()
}

/** Whether a model gets the part. */
function isContent({ type, text, providerMetadata }: Part): boolean {
  if (type === "text") return text !== "" || providerMetadata !== undefined
  return !type.startsWith("data-") && !type.startsWith("source-")
}
