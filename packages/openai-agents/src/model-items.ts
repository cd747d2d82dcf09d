/**
 * What a model gets in place of items that OpenAI's Responses API refuses: an item or a call whose id occurred before, as local models and copied
 * histories have them, ids that are too long, and reasoning that nothing follows, as a stopped run or an item that was taken back leaves it.
 */
type Fields = Readonly<Record<string, unknown>>

/** "string too long. Expected a string with maximum length 64": github.com/langchain-ai/langchainjs/issues/11044 (2026-11-28). */
const MAX_ID = 64

/** Why an item of reasoning is left out. */
export type ReasoningProblem = "nothing follows it" | "its id occurred before, or is too long"

export interface ModelItems {
  /** By the items of the history: those that differ. */
  readonly replaced: ReadonlyMap<object, object>
  /** Reasoning that no model gets. */
  readonly loose: ReadonlyMap<object, ReasoningProblem>
}

export function modelItems(items: readonly object[]): ModelItems {
  const replaced = new Map<object, object>()
  const loose = new Map<object, ReasoningProblem>()
  const ids = new Set<unknown>()
  /** By the id of a call: how often it occurred, which the id of the last one shows. */
  const calls = new Map<string, number>()
  for (const [index, item] of items.entries()) {
    const { id, type } = item as Fields
    const isTaken = typeof id !== "string" || (id.length <= MAX_ID && !ids.has(id))
    if (type === "reasoning") {
      if (!isTaken) loose.set(item, "its id occurred before, or is too long")
      else if (!isFollowed(items, index)) loose.set(item, "nothing follows it")
      else ids.add(id)
      continue
    }
    const { id: _, ...rest } = item as Fields
    // A call that has no other id is known by this one.
    const needsId = "callId" in rest ? false : type !== "message"
    const named = isTaken || needsId ? item : rest
    if (isTaken) ids.add(id)
    const sent = withOwnCall(named, calls)
    if (sent !== item) replaced.set(item, sent)
  }
  return { replaced, loose }
}

/** With the id of a call that no call before has; its result has the same. */
function withOwnCall(item: object, calls: Map<string, number>): object {
  const { type, callId } = item as Fields
  if (typeof callId !== "string" || typeof type !== "string") return item
  const count = (calls.get(callId) ?? 0) + (type.endsWith("_call") ? 1 : 0)
  calls.set(callId, count)
  return count < 2 ? item : { ...item, callId: `${callId}_${count}` }
}

/** Whether what the model has made next is behind the reasoning. */
function isFollowed(items: readonly object[], index: number): boolean {
  const next = items.slice(index + 1).find((item) => (item as Fields)["type"] !== "reasoning") as Fields | undefined
  if (next === undefined) return false
  const { type, role, name, providerData } = next
  if (type === undefined || type === "message") return role === "assistant"
  const { type: inner } = (providerData ?? {}) as Fields
  const isGiven = [type, name, inner].some((one) => GIVEN.test(String(one)))
  return !isGiven
}

/** Types of what the program says: results of calls, and the answer to MCP's question. */
const GIVEN = /_output$|_result$|_response$/
