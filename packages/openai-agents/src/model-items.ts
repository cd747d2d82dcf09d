/**
 * Replaces the items that the API of a model refuses: an item or a call whose id occurred before or has another form, as local models, other
 * providers and copied histories have them, reasoning that nothing follows or that the API cannot look up, calls without results.
 */
import {
  CallIds,
  CHAT_DIALECTS,
  ID_OPTIONAL,
  isItemId,
  referenceProblem,
  RESPONSES_RULES,
  type Rules,
  sentName,
  wellFormed,
} from "@sessions/providers/rules"
import { isObject } from "./items.ts"
import { type Fields, takenItem } from "./model-parts.ts"
import { callKey, orphans } from "./orphans.ts"
import type { AgentRepair } from "./types.ts"

/** An item of the history, and when it was saved. */
export interface SavedItem {
  readonly item: object
  readonly savedAt: string
  /** It was taken out of the history, and is here for what followed it. */
  readonly isDeleted?: boolean
}

/** The API that gets the items. */
export interface Receiver {
  /** Undefined: that of the last answer. */
  readonly api?: "responses" | "chat_completions" | undefined
  readonly isStored: boolean
  /** In milliseconds since 1970. */
  readonly now: number
}

/** An item that no model gets. */
export interface LeftOut {
  /** Its name, for the one that stands in its place. */
  readonly key: string
  readonly why: string
}

export interface ModelItems {
  /** By the items of the history: those that differ. */
  readonly replaced: ReadonlyMap<object, object>
  readonly left: ReadonlyMap<object, LeftOut>
}

const NO_RESULT = "it has no result"
const ANOTHER_ID = "its id occurred before, or is none of OpenAI's"
const NOT_ALONE = "the reasoning that it belongs to is left out"
const OTHERS = "another API made it"

/** The sentence about an item that is left out. */
export function repairOf(sessionId: string, item: object, { key, why }: LeftOut): AgentRepair {
  const { id, type } = item as Fields
  const what = type === "reasoning" ? `The reasoning ${JSON.stringify(id)}` : `The call ${JSON.stringify(key)}`
  const wayOut = why === NO_RESULT ? " Add its result with addItems, or take it back, to change that." : ""
  const message = `${what} of the session ${JSON.stringify(sessionId)} is left out of what a model gets, because ${why}.${wayOut}`
  return { sessionId, item, message }
}

export function modelItems(saved: readonly SavedItem[], to: Receiver): ModelItems {
  const api = to.api ?? (isOfResponses(saved) ? "responses" : undefined)
  const rules = api === undefined ? ANY : api === "responses" ? RESPONSES_RULES : CHAT_DIALECTS.openai
  // The runner takes the result of any call with an id for that of each.
  const calls = new CallIds({ ...rules.callId, once: true })
  const sent = saved.map(({ item }) => {
    const sound = wellFormed(item as Fields)
    return withOwnCall(api === undefined ? sound : takenItem(sound, api), calls, rules)
  })
  const open = orphans(sent.filter((_, i) => saved[i]?.isDeleted !== true))
  const replaced = new Map<object, object>()
  const left = new Map<object, LeftOut>()
  const ids = new Set<unknown>()
  /** Calls that are sent, and wait for their results. */
  const waiting = new Set<string>()
  /** The last reasoning is left out: what it led to, up to a message, is not sent under its ids. */
  let isLoose = false
  const keep = (item: object, sentItem: object) => {
    if (sentItem !== item) replaced.set(item, sentItem)
  }
  for (const [index, one] of sent.entries()) {
    const { item, savedAt, isDeleted } = saved[index] as SavedItem
    if (isDeleted === true) {
      isLoose ||= one["type"] === "reasoning"
      continue
    }
    const [key, pair, id] = [callKey(one), pairOf(one), idOf(one)]
    const leaveOut = (why: string, name = key ?? `${String(one["type"])} ${String(id)}`) => {
      left.set(item, { key: name, why })
      // The runner leaves out the reasoning before it.
      isLoose ||= sent[index - 1]?.["type"] === "reasoning"
    }
    if (isGiven(one)) isLoose = false
    if (one["type"] === "reasoning") {
      const problem =
        (isFollowed(sent, saved, index) ? undefined : "nothing follows it") ??
        reasoningProblem(one, savedAt, { ids, api, to })
      isLoose = problem !== undefined
      if (problem === undefined) {
        if (id !== undefined) ids.add(id)
        keep(item, one)
      } else left.set(item, { key: "reasoning", why: problem })
    } else if (key !== undefined && open.has(key)) leaveOut(NO_RESULT)
    else if (pair?.half === "result" && !waiting.has(pair.id)) leaveOut("its call is not sent, or has another result")
    else if (api === "chat_completions" && !isOfChat(one)) leaveOut(OTHERS)
    else {
      const isTaken =
        id === undefined || (!isLoose && !ids.has(id) && (api !== "responses" || isItemId(typeOf(one), id)))
      if (!isTaken && needsId(one)) leaveOut(isLoose ? NOT_ALONE : ANOTHER_ID)
      else {
        if (isTaken && id !== undefined) ids.add(id)
        if (pair?.half === "call") waiting.add(pair.id)
        else if (pair !== undefined) waiting.delete(pair.id)
        const { id: _, ...rest } = one
        keep(item, isTaken ? one : rest)
        if (typeOf(one) === "message") isLoose = false
      }
    }
  }
  return { replaced, left }
}

/** Whether the last answer of which the items tell it came from the Responses API, or none tells. */
function isOfResponses(saved: readonly SavedItem[]): boolean {
  const last = saved.findLast(({ item }) => makerOf(item as Fields) !== undefined)
  return last === undefined || makerOf(last.item as Fields) === "responses"
}

/** Rules of a receiver of which nothing is known but that a call has one result. */
const ANY: Pick<Rules, "callId" | "callName"> = {
  callId: { ...RESPONSES_RULES.callId, refused: /(?!)/g, min: 0, max: Number.POSITIVE_INFINITY },
  callName: { ...RESPONSES_RULES.callName, refused: /(?!)/g, min: 0, max: Number.POSITIVE_INFINITY },
}

/** The API that has made the item; undefined if it does not show. */
function makerOf({ type, role, id }: Fields): "responses" | "another" | undefined {
  if (type === "reasoning") return id === undefined ? "another" : "responses"
  if (type === "function_call" || type === "function_call_result") return undefined
  if (type !== undefined && type !== "message") return "responses"
  if (role !== "assistant" || id === undefined) return undefined
  return String(id).startsWith("msg") ? "responses" : "another"
}

/** Items at which the SDK's model for Chat Completions does not throw. */
function isOfChat({ type, role, caller, namespace }: Fields): boolean {
  if (type === undefined || type === "message" || role !== undefined) return true
  return (
    (type === "function_call" || type === "function_call_result") && caller === undefined && namespace === undefined
  )
}

function reasoningProblem(
  item: Fields,
  savedAt: string,
  { ids, api, to }: { readonly ids: ReadonlySet<unknown>; readonly api: Receiver["api"]; readonly to: Receiver },
): string | undefined {
  const { id, providerData } = item
  const isOwnId = id === undefined || isItemId("reasoning", id)
  if (ids.has(id) || (api === "responses" && !isOwnId)) return ANOTHER_ID
  const { encrypted_content: inSnake, encryptedContent: encrypted = inSnake } = fieldsOf(providerData)
  if (api !== "responses" || (typeof encrypted === "string" && encrypted !== "")) return undefined
  if (id === undefined) return OTHERS
  const problem = referenceProblem({ id, saved: Date.parse(savedAt) / 1000 }, to)
  if (problem === "not stored") return "it is not encrypted, and `store` is false"
  return problem === "expired" ? "OpenAI's store has had it for 30 days, and it is not encrypted" : undefined
}

interface Pair {
  readonly half: "call" | "result"
  readonly id: string
}

/** A call or its result. */
function pairOf(item: Fields): Pair | undefined {
  const { type, name, callId, id, providerData } = item
  const data = fieldsOf(providerData)
  const kind = type === "hosted_tool_call" ? (data["type"] ?? name) : type
  if (kind === "mcp_approval_request") return pair("call", data["id"] ?? id)
  if (kind === "mcp_approval_response") return pair("result", data["approval_request_id"])
  return pair(GIVEN.test(typeOf(item)) ? "result" : "call", type === "unknown" ? data["call_id"] : callId)
}

function pair(half: Pair["half"], id: unknown): Pair | undefined {
  return typeof id === "string" ? { half, id } : undefined
}

/** With an id of the call that no call before has and a name that the API takes; its result has the same id. */
function withOwnCall(item: Fields, calls: CallIds, { callName }: Pick<Rules, "callName">): Fields {
  const { type, name, callId, providerData } = item
  const isUnknown = type === "unknown"
  const id = isUnknown ? fieldsOf(providerData)["call_id"] : callId
  const inner = typeOf(item)
  // What a program of OpenAI's has called names its call by this id.
  if (typeof id !== "string" || inner.startsWith("program")) return item
  const own = GIVEN.test(inner) ? calls.ofResult(id) : calls.ofCall(id)
  const known = type === "function_call" ? sentName(String(name), callName) : name
  if (own === id && known === name) return item
  if (isUnknown) return { ...item, providerData: { ...fieldsOf(providerData), call_id: own } }
  return { ...item, callId: own, ...(known === name ? {} : { name: known }) }
}

/** The type of the item in the Responses API, as far as ids of it have a form of their own. */
function typeOf({ type, role, providerData }: Fields): string {
  if (type === undefined || type === "message") return role === "assistant" ? "message" : ""
  return String(type === "unknown" ? fieldsOf(providerData)["type"] : type)
}

/** The id that the SDK sends. */
function idOf({ type, id, providerData }: Fields): unknown {
  const data = fieldsOf(providerData)
  const isMcp = type === "hosted_tool_call" && String(data["type"]).startsWith("mcp_")
  return isMcp ? (data["id"] ?? id) : id
}

const NEEDS_ID: ReadonlySet<unknown> = new Set(["hosted_tool_call", "computer_call", "program", "program_output"])

/** An item that the API does not take without its id. */
function needsId(item: Fields): boolean {
  const inner = typeOf(item)
  return item["type"] === "unknown" ? !GIVEN.test(inner) && !ID_OPTIONAL.has(inner) : NEEDS_ID.has(inner)
}

/** Whether what the model has made next is behind the reasoning. */
function isFollowed(items: readonly Fields[], saved: readonly SavedItem[], index: number): boolean {
  for (let i = index + 1, next = items[i]; next !== undefined; next = items[++i])
    if (next["type"] !== "reasoning") return saved[i]?.isDeleted !== true && !isGiven(next)
  return false
}

/** Items of the user or the program: results of calls, and the answer to MCP's question, too. */
function isGiven({ type, role, name, providerData }: Fields): boolean {
  if (type === undefined || type === "message") return role !== "assistant"
  return [type, name, fieldsOf(providerData)["type"]].some((one) => GIVEN.test(String(one)))
}

const GIVEN = /_output$|_result$|_response$/

function fieldsOf(value: unknown): Fields {
  return isObject(value) ? value : {}
}
