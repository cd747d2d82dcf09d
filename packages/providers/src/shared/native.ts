/**
 * What an API's object has and our block does not: its ids, citations, statuses, signatures, the exact text of arguments. It is kept in the
 * block's field `native`, so that the same API gets back what it has said, and no other one gets it.
 */
import type { ContentBlock } from "@sessions/core"
import { type Fields, fieldsOf } from "@sessions/formats/messages/values"

export type Api = "anthropic" | "openai-chat" | "openai-responses" | "gemini" | "ai-sdk"

/** `written`: what the mapping makes of the block. Fields that are null in an answer are as good as missing. */
export function withNative<B extends ContentBlock>(block: B, api: Api, theirs: Fields, written: Fields): B {
  const fields = Object.fromEntries(
    Object.entries(theirs).filter(
      ([key, value]) => value !== undefined && value !== null && !isEqual(value, written[key]),
    ),
  )
  return Object.keys(fields).length === 0 ? block : { ...block, native: { api, fields } }
}

/** The fields that this API gave; none if another one made the block. */
export function nativeOf(block: ContentBlock, api: Api): Fields {
  const { api: of, fields } = fieldsOf((block as Fields)["native"])
  return of === api ? fieldsOf(fields) : {}
}

export function isNative(block: ContentBlock, api: Api): boolean {
  return fieldsOf((block as Fields)["native"])["api"] === api
}

/** Equality of JSON values, with keys in any order. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isEqual((a as Fields)[key], (b as Fields)[key]))
  )
}
