/** The messages of a chat for a model. */
import { isFinished, isTool, type Part } from "./parts.ts"
import { isApproved, repairEach, repairOf, type RepairOptions } from "./repair.ts"
import type { ChatMessage } from "./types.ts"

/** `convertToModelMessages` of the package `ai`, by its structure. */
export type ConvertToModelMessages = (messages: never[], options?: never) => Promise<object[]>

/**
 * `convertToModelMessages` of the AI SDK, with the repair that `context()` of a session does. Without it, a chat with a call that never got
 * its result, because the process was killed, the page did not answer or the run was stopped, is refused from then on with
 * `AI_MissingToolResultsError`. The messages that are given, and the chat, are not changed.
 *
 * A call without a result gets an error result. Left out are: a call whose input did not arrive completely, a call that the provider
 * executes and that has no result, reasoning that nothing follows, and a message that has no content then. In the last message, a call that
 * was approved stays as it is, and the AI SDK executes it; so does one that the provider goes on with.
 *
 * ```ts
 * const toModelMessages = withRepair(convertToModelMessages)
 * const result = streamText({ model, tools, messages: await toModelMessages(messages, { tools }) })
 * ```
 */
export function withRepair<Convert extends ConvertToModelMessages>(
  convertToModelMessages: Convert,
  { onRepair = () => undefined }: RepairOptions = {},
): Convert {
  const convert = convertToModelMessages as unknown as Converting
  const repaired: Converting = async (messages, options) => {
    const converted: object[] = []
    // One by one, so that a message without content is known by its id.
    for (const [index, message] of repairEach(messages, onRepair).entries()) {
      const all = await convert([message], options)
      const kept = all.filter(hasContent).map((one) => withApprovedLast(one, message))
      converted.push(...kept)
      if (kept.length === all.length) continue
      onRepair(repairOf(message, index, `a message of role ${message.role} without content is left out.`))
    }
    return converted
  }
  return repaired as unknown as Convert
}

type Converting = (messages: readonly ChatMessage[], options?: object) => Promise<object[]>

/**
 * The results of approved calls behind those of the other calls of a step, where the request had them that executed the calls: what a provider
 * has cached stays what it gets.
 */
function withApprovedLast(message: object, { parts }: ChatMessage): object {
  const { role, content } = message as { readonly role?: unknown; readonly content?: unknown }
  if (role !== "tool" || !Array.isArray(content)) return message
  const approved = (parts as readonly Part[]).filter(
    (part) => isTool(part) && isFinished(part) && isApprovedLater(part),
  )
  const isLast = ({ type, toolCallId }: ResultLike): boolean =>
    type === "tool-result" && approved.some((part) => part["toolCallId"] === toolCallId)
  const results = content as readonly ResultLike[]
  return { ...message, content: [...results.filter((one) => !isLast(one)), ...results.filter(isLast)] }
}

/** An automatic approval is one of the run that made the call, which has the results in the order of the calls. */
function isApprovedLater(part: Part): boolean {
  return isApproved(part) && (part["approval"] as { readonly isAutomatic?: unknown }).isAutomatic !== true
}

interface ResultLike {
  readonly type?: unknown
  readonly toolCallId?: unknown
}

/** Providers refuse a message without content. The AI SDK takes empty texts out and sends what is left. */
function hasContent(message: object): boolean {
  const { content } = message as { readonly content?: unknown }
  if (!Array.isArray(content)) return content !== ""
  return (content as readonly TextLike[]).some(
    ({ type, text, providerOptions }) => type !== "text" || text !== "" || providerOptions !== undefined,
  )
}

interface TextLike {
  readonly type?: unknown
  readonly text?: unknown
  readonly providerOptions?: unknown
}
