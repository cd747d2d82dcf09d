/** A message of the assistant as items of the Responses API, with what their provider wants back. */
import type { AssistantMessage, ContentBlock, ContextMessage, ModelMessage, ToolResultMessage } from "@sessions/core"
import { itemsOf } from "@sessions/formats/messages/openai-responses"
import { type Fields, fieldsOf, numberOf } from "@sessions/formats/messages/values"
import { isCutOff } from "../shared/answer.ts"
import type { Lost } from "../shared/lost.ts"
import { isEqual, isNative, nativeOf } from "../shared/native.ts"
import { PART } from "./answer.ts"
import { hasOtherHalf, hostedOutput, ITEM, type Pairs, pairsOf } from "./hosted.ts"
import { type ItemReceiver, sentItem, sentPart } from "./fields.ts"
import { linked, type Sent } from "./reasoning.ts"
import { HALVES, HOSTED_CALLS, referenceProblem, RULES, STORED_SECONDS, type StoredItem } from "./rules.ts"

const API = "openai-responses"

export interface Receiver extends ItemReceiver {
  readonly isStored: boolean
  /** The ids of the calls so far. */
  readonly callIds: Set<string>
  /** In milliseconds since 1970. */
  readonly now: number
}

/** `results`: those of its calls, by the ids of the calls. */
export function answerItems(
  context: ContextMessage<AssistantMessage>,
  results: ReadonlyMap<string, ToolResultMessage>,
  to: Receiver,
): readonly Sent[] {
  const { message, entryId } = context
  const { lost } = to
  const isOwn = message.provider === undefined || message.provider === to.provider
  lost.add("attachments", entryId, message.attachments?.length ?? 0)
  // Only the user's messages and results may have images.
  const content = message.content.filter(({ type }) => type !== "image")
  lost.add("images", entryId, message.content.length - content.length)
  const sent: Sent[] = []
  for (const run of runsOf(isOwn ? content : content.map(foreign))) {
    const [block] = run
    if (block === undefined) continue
    const items = itemsOfRun(run, context, isOwn, to)
    for (const one of items) {
      // An item of the API's own tools has halves that name each other.
      const item = isOwn ? sentItem(one, block.type !== ITEM, entryId, to) : one
      if (item !== undefined) sent.push({ item, block })
    }
  }
  let list: readonly Sent[] = sent
  // What is left out may leave its other half alone, or the reasoning before it.
  for (let length = Number.POSITIVE_INFINITY; list.length < length; ) {
    length = list.length
    const pairs = pairsOf(list.map(({ item }) => item))
    list = linked(
      list.filter((one, at) => isWhole(one, at, { pairs, results, entryId, lost })),
      entryId,
      lost,
    )
  }
  return withOwnCallIds(list, entryId, to)
}

/** Calls that the API has run itself are not among those of which `prepare` knows the ids. */
function withOwnCallIds(list: readonly Sent[], entryId: string, { callIds, lost }: Receiver): readonly Sent[] {
  /** Of the API's own, whose outputs follow. */
  const renamed = new Map<string, string>()
  return list.map((one) => {
    const { type, call_id: id } = one.item
    if (typeof id !== "string") return one
    const isOutput = Object.values(HALVES).includes(String(type))
    let own = isOutput ? (renamed.get(id) ?? id) : id
    if (!isOutput) {
      for (let n = 2; callIds.has(own); n++) own = `${id.slice(0, 60)}_${n}`
      callIds.add(own)
      if (one.block.type === ITEM) renamed.set(id, own)
      if (own !== id) lost.add("ids", entryId, 1, `${RULES.receiver} takes ${RULES.callId.says}`)
    }
    return own === id ? one : { ...one, item: { ...one.item, call_id: own } }
  })
}

/** The parts of one text item, and texts of other providers that follow each other; each other block alone. */
function runsOf(content: readonly ContentBlock[]): readonly (readonly ContentBlock[])[] {
  const runs: ContentBlock[][] = []
  for (const block of content) {
    const last = runs.at(-1)?.[0]
    const isSame = last !== undefined && isText(last) && isText(block) && isEqual(textItem(last), textItem(block))
    if (isSame) runs.at(-1)?.push(block)
    else runs.push([block])
  }
  return runs
}

function isText({ type }: ContentBlock): boolean {
  return type === "text" || type === PART
}

/** The fields of the text item that the block was a part of. */
function textItem(block: ContentBlock): Fields {
  return fieldsOf(nativeOf(block, API)["item"])
}

function itemsOfRun(
  run: readonly ContentBlock[],
  item: ContextMessage<AssistantMessage>,
  isOwn: boolean,
  to: Receiver,
): readonly Fields[] {
  const { message, entryId } = item
  const [first] = run as [ContentBlock]
  const { lost } = to
  const mapped = () => {
    // Signatures of other providers of this API are no reasoning of this one.
    const provider = isOwn ? message.provider : undefined
    const one = { role: "assistant", content: run.map(plain), provider } as ModelMessage
    const items = lost.mapped(entryId, (losses) => itemsOf({ id: entryId, timestamp: "", message: one }, losses))
    // A block of a type that the API does not have leaves a message without content.
    return items.filter(({ content }) => content !== "")
  }
  if (isText(first)) return isNative(first, API) ? [ownText(run, to)] : mapped()
  if (first.type === ITEM) {
    if (isOwn) return storedItem(fieldsOf((first as Fields)["item"]), item, to)
    lost.add("blocks", entryId)
    return []
  }
  if (first.type === "thinking")
    return isNative(first, API) ? reasoning(first, item, to) : otherReasoning(mapped(), entryId, to)
  return mapped().map((one) => ofCall(one, first))
}

function ownText(run: readonly ContentBlock[], { provider }: Receiver): Fields {
  const content = run.map((block) => {
    if (block.type === PART) return sentPart(fieldsOf((block as Fields)["part"]), provider)
    const { text, refusal } = block as Fields
    const more = sentPart(fieldsOf(nativeOf(block, API)["part"]), provider)
    return refusal === true
      ? { type: "refusal", refusal: text, ...more }
      : { type: "output_text", text, annotations: [], ...more }
  })
  return { type: "message", role: "assistant", ...textItem(run[0] as ContentBlock), content }
}

/** An item that ours do not have. One that only names what the API has stored is left out if it is gone. */
function storedItem(item: Fields, context: ContextMessage<AssistantMessage>, to: Receiver): readonly Fields[] {
  const { type, id, encrypted_content: encrypted } = item
  const isReference = type === "item_reference" || (type === "reasoning" && typeof encrypted !== "string")
  return isReference && isGone({ id }, context, to) ? [] : [item]
}

/** Whether the API does not find what is referred to, which is reported then. Of an answer that was cut off nothing is stored. */
function isGone(item: StoredItem, { message, entryId }: ContextMessage<AssistantMessage>, to: Receiver): boolean {
  const problem = referenceProblem(item, { isStored: to.isStored && !isCutOff(message), now: to.now })
  if (problem === "not stored") to.lost.add("thinking", entryId, 1, NOT_STORED)
  if (problem === "expired") to.lost.add("expired", entryId)
  return problem !== undefined
}

function reasoning(block: ContentBlock, context: ContextMessage<AssistantMessage>, to: Receiver): readonly Fields[] {
  const { provider } = to
  const fields = nativeOf(block, API)
  const given = Object.entries(fields).filter(
    ([key, value]) => value !== null && (key !== "content" || provider !== "openai"),
  )
  const { encrypted_content: encrypted = "", content } = Object.fromEntries(given)
  // Servers of open models give the text itself. Without it and what is encrypted it is a reference into the API's store.
  if (encrypted === "" && content === undefined) {
    const until = numberOf(fieldsOf((block as Fields)["native"])["until"])
    const made = until === undefined ? undefined : until - STORED_SECONDS
    if (isGone({ id: fields["id"], made }, context, to)) return []
  }
  const text = (block as Fields)["thinking"]
  const summary = text === "" ? [] : [{ type: "summary_text", text }]
  return [{ type: "reasoning", summary, ...Object.fromEntries(given) }]
}

/** Reasoning that another program has stored: encrypted, under an id that the mapping makes up of the entry's. */
function otherReasoning(items: readonly Fields[], entryId: string, { ids, lost }: Receiver): readonly Fields[] {
  return items.flatMap((item) => {
    if (item["encrypted_content"] === "") {
      lost.add("thinking", entryId, 1, NOT_STORED)
      return []
    }
    const id = String(item["id"])
      .replaceAll(/[^a-zA-Z0-9_-]/g, "_")
      .slice(0, 60)
    let own = id
    for (let n = 2; ids.has(own); n++) own = `${id}_${n}`
    return [{ ...item, id: own }]
  })
}

const NOT_STORED =
  'it is not encrypted. Ask for it with `include: ["reasoning.encrypted_content"]`, or give the option `store: true` if the API stores your answers'

/** A call with what its provider gave, but the id and name that it has in this request. */
function ofCall(item: Fields, block: ContentBlock): Fields {
  const native = nativeOf(block, API)
  const { id, name } = block as Fields
  const type = String(native["type"])
  if (type === "mcp_approval_request") return { ...native, id }
  if (HOSTED_CALLS[type] !== undefined) return { ...native, call_id: id }
  if (block.type !== "toolCall") return item
  if (type !== "custom_tool_call") return { ...item, ...native, call_id: id, name }
  const { arguments: _, ...rest } = item
  return { ...rest, ...native, call_id: id, name }
}

/** Whether the API takes the item: halves have their other half, and calls of its own tools an output that it can read. */
function isWhole(
  { item, block }: Sent,
  at: number,
  o: {
    readonly pairs: Pairs
    readonly results: ReadonlyMap<string, ToolResultMessage>
    readonly entryId: string
    readonly lost: Lost
  },
): boolean {
  const { pairs, results, entryId, lost } = o
  const type = String(item["type"])
  if (block.type === "toolCall") {
    const result = results.get(block.id)
    if (HOSTED_CALLS[type] === undefined || (result !== undefined && hostedOutput(item, result) !== undefined))
      return true
    lost.add("hosted_calls", entryId, 1, "a computer answers with a screenshot, and says which safety checks were seen")
    return false
  }
  const isPaired = hasOtherHalf(item, at, pairs)
  if (!isPaired) lost.add("hosted_calls", entryId)
  return isPaired
}

/** Without what only the provider that gave it knows. */
function foreign(block: ContentBlock): ContentBlock {
  const { native: _, ...rest } = block as Fields
  return rest as unknown as ContentBlock
}

/** Without the fields that only the API which gave them knows. */
export function plain(block: ContentBlock): ContentBlock {
  return block.type === "text" ? { type: "text", text: block.text } : block
}
