/** The messages that a provider accepts: an independent check that a context is sendable. */
type Fields = Readonly<Record<string, unknown>>

const ROLES: readonly unknown[] = ["user", "assistant", "toolResult", "system"]

/** The first problem that a provider would reject, or undefined. */
export function whyRefused(messages: readonly { readonly message: object }[]): string | undefined {
  /** Ids of the latest assistant message's calls that still need a result. */
  let waiting: unknown[] = []
  for (const [index, item] of messages.entries()) {
    const { role, content, toolCallId } = item.message as Fields
    const blocks = content as readonly Fields[]
    if (!ROLES.includes(role)) return `message ${index} has the role ${String(role)}`
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
    if (waiting.some((id) => typeof id !== "string")) return `message ${index} has a call without an id`
  }
  return waiting.length === 0 ? undefined : `the results of ${waiting.join(", ")} are missing`
}
