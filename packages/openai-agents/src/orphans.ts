/**
 * Calls whose results are missing after a crash, an abort or an approval that was never given. The SDK's runner leaves the calls of functions,
 * computers and patches without a result out of what a model gets; these are the others, with which Responses refuses each request
 * ("No tool output found for …").
 */
import { isObject } from "./items.ts"

type Fields = Readonly<Record<string, unknown>>

/** Names the call in the items of one history; undefined: no call, or one that is complete by itself. */
export function callKey(item: object): string | undefined {
  const { type, callId, id, status, execution, providerData } = item as Fields
  const data = isObject(providerData) ? providerData : {}
  if (type === "shell_call") return keyOf(type, callId)
  if (type === "tool_search_call" && (execution ?? data["execution"]) !== "server")
    return keyOf(type, callId ?? data["call_id"] ?? id)
  if (type === "hosted_tool_call") {
    if (isNamed(item as Fields, "mcp_approval_request")) return keyOf("mcp_approval_request", data["id"] ?? id)
    return PENDING.has(status) ? keyOf(type, id) : undefined
  }
  // What the SDK has no type for, such as a call of a local shell.
  const name = data["type"]
  return type === "unknown" && typeof name === "string" && name.endsWith("_call")
    ? keyOf(name, data["call_id"])
    : undefined
}

/** The keys of the calls that have no result. */
export function orphans(items: readonly object[]): ReadonlySet<string> {
  const open = new Set<string>()
  for (const item of items) {
    const call = callKey(item)
    if (call !== undefined) open.add(call)
    else for (const key of answeredBy(item as Fields, open)) open.delete(key)
  }
  return open
}

/**
 * The items for a call without a result. The session's hook for the runner gives an item for each item, and the runner leaves out the call
 * of a function that has no result, together with the reasoning that belongs to it.
 */
export function standIn(item: object, key: string): object {
  const { type } = item as Fields
  return {
    type: "function_call",
    callId: `without a result: ${key}`,
    name: String(type),
    arguments: "{}",
    status: "incomplete",
  }
}

/** The states of a hosted call that has not ended: of searches, code interpreters, images and MCP. */
const PENDING: ReadonlySet<unknown> = new Set(["in_progress", "searching", "interpreting", "generating", "calling"])

function answeredBy(item: Fields, open: ReadonlySet<string>): readonly string[] {
  const { type, callId, id, providerData } = item
  const data = isObject(providerData) ? providerData : {}
  if (type === "shell_call_output") return keys("shell_call", callId)
  if (type === "tool_search_output") {
    const known = keys("tool_search_call", callId ?? data["call_id"] ?? id).filter((key) => open.has(key))
    // An output may name no call: it is that of the first one that waits.
    return known.length > 0 ? known : [...open].filter((key) => key.startsWith("tool_search_call ")).slice(0, 1)
  }
  if (type === "hosted_tool_call" && isNamed(item, "mcp_approval_response"))
    return keys("mcp_approval_request", data["approval_request_id"])
  const name = data["type"]
  const isOutput = type === "unknown" && typeof name === "string" && name.endsWith("_output")
  return isOutput ? keys(name.slice(0, -"_output".length), data["call_id"]) : []
}

/** The SDK names such an item by its `name`, or by the type of what the provider has given. */
function isNamed({ name, providerData }: Fields, expected: string): boolean {
  return name === expected || (isObject(providerData) && providerData["type"] === expected)
}

function keyOf(type: string, id: unknown): string | undefined {
  return typeof id === "string" ? `${type} ${id}` : undefined
}

function keys(type: string, id: unknown): readonly string[] {
  const key = keyOf(type, id)
  return key === undefined ? [] : [key]
}
