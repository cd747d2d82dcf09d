/** The messages that a provider accepts: an independent check that a context is sendable. */
type Fields = Readonly<Record<string, unknown>>

const ROLES: readonly unknown[] = ["user", "assistant", "toolResult", "system"]

/** Whether a provider refuses this block in a message of this role. */
function isRefused({ type, ...block }: Fields, role: unknown): boolean {
  if (type === "text")
    return typeof block["text"] !== "string" || (role !== "toolResult" && block["text"].trim() === "")
  if (type === "image") return typeof block["data"] !== "string" || block["data"] === ""
  if (type === "thinking") return role !== "assistant" || typeof block["thinking"] !== "string"
  if (type !== "toolCall") return false
  const { id, name, arguments: args } = block
  const isCall = typeof id === "string" && typeof name === "string" && typeof args === "object" && args !== null
  return role !== "assistant" || !isCall
}

/** The first problem that a provider would reject, or undefined. */
export function whyRefused(messages: readonly { readonly message: object }[]): string | undefined {
  /** Ids of the latest assistant message's calls that still need a result. */
  let waiting: unknown[] = []
  for (const [index, item] of messages.entries()) {
    const { role, content, toolCallId } = item.message as Fields
    const blocks = content as readonly Fields[]
    if (!ROLES.includes(role)) return `message ${index} has the role ${String(role)}`
    const refused = blocks.find((block) => isRefused(block, role))
    if (refused !== undefined) return `message ${index} (${String(role)}) has the block ${JSON.stringify(refused)}`
    if (role === "toolResult") {
      const call = waiting.indexOf(toolCallId)
      if (call < 0) return `message ${index} is the result of no call before it: ${String(toolCallId)}`
      waiting.splice(call, 1)
      continue
    }
    if (blocks.length === 0) return `message ${index} (${String(role)}) is empty`
    if (role === "system") continue
    if (waiting.length > 0) return `message ${index} comes before the results of ${waiting.join(", ")}`
    waiting = role === "assistant" ? blocks.filter(({ type }) => type === "toolCall").map(({ id }) => id) : []
    if (new Set(waiting).size < waiting.length) return `message ${index} has two calls with one id`
  }
  return waiting.length === 0 ? undefined : `the results of ${waiting.join(", ")} are missing`
}
