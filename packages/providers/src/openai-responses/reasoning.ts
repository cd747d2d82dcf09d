/**
 * Reasoning and what follows it belong together: the API refuses an item of the one without the other. An answer's blocks remember which they are, since
 * an edit may take some of them away.
 */
import type { ContentBlock } from "@sessions/core"
import { type Fields, fieldsOf, stringOf } from "@sessions/formats/messages/values"
import type { Lost } from "../shared/lost.ts"
import { withoutId } from "./fields.ts"
import { ID_OPTIONAL } from "./rules.ts"

interface Links {
  /** Of a reasoning: the item that follows it. */
  readonly next?: string
  /** Of any other item: the reasoning before it. */
  readonly after?: string
}

/** For each item of an answer what it belongs to. */
export function linksOf(items: readonly Fields[]): readonly Links[] {
  let after: string | undefined
  const followers = followersOf(items, isReasoning)
  return items.map((item, i) => {
    if (item["type"] !== "reasoning") return after === undefined ? {} : { after }
    after = stringOf(item["id"])
    const follower = followers[i]
    const next = follower === undefined ? undefined : keyOf(follower)
    return next === undefined ? {} : { next }
  })
}

function isReasoning({ type }: Fields): boolean {
  return type === "reasoning"
}

/** For each place the next one behind it that is no reasoning. */
function followersOf<T>(list: readonly T[], isThought: (one: T) => boolean): readonly (T | undefined)[] {
  let next: T | undefined
  const followers = list.toReversed().map((one) => {
    const follower = next
    if (!isThought(one)) next = one
    return follower
  })
  return followers.reverse()
}

function keyOf(item: Fields): string | undefined {
  return stringOf(item["id"]) ?? stringOf(item["call_id"])
}

/** An item of a request, and the block that it was made of. */
export interface Sent {
  readonly item: Fields
  readonly block: ContentBlock
}

/** Without reasoning that has lost what followed it, and without the ids of what has lost its reasoning. */
export function linked(list: readonly Sent[], entryId: string, lost: Lost): readonly Sent[] {
  const followers = followersOf(list, ({ item }) => isReasoning(item))
  const whole = list.filter((one, i) => !isReasoning(one.item) || isFollowed(one, followers[i]))
  lost.add("thinking", entryId, list.length - whole.length)
  const sent = new Set<unknown>()
  const found: Sent[] = []
  for (const one of whole) {
    const { item, block } = one
    if (item["type"] === "reasoning") sent.add(item["id"])
    const { after } = fieldsOf((block as Fields)["native"])
    const isLoose = after !== undefined && item["id"] !== undefined && !sent.has(after)
    if (!isLoose) found.push(one)
    else if (ID_OPTIONAL.has(item["type"])) found.push({ item: withoutId(item), block })
    else lost.add("hosted_calls", entryId, 1, "the reasoning that it belongs to is not sent")
  }
  return found
}

function isFollowed({ block }: Sent, follower: Sent | undefined): boolean {
  const { next } = fieldsOf((block as Fields)["native"])
  if (follower === undefined) return false
  return next === undefined || next === originalKey(follower)
}

/** The id that the item had in the answer: that of a call may be another one in the request. */
function originalKey({ item, block }: Sent): string | undefined {
  const { fields } = fieldsOf((block as Fields)["native"])
  const { item: text, id, call_id: callId } = fieldsOf(fields)
  return keyOf({ id: fieldsOf(text)["id"] ?? id, call_id: callId }) ?? keyOf(item)
}
