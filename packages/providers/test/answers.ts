/** Random answers in the shapes of the providers' SDKs, and sessions that have them. */
import { createSessions, type NewEntry, type Session } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import * as fc from "fast-check"
import { type AnswerEntry, toolCalls, toolResult } from "../src/index.ts"

export async function newSession(): Promise<Session> {
  return createSessions({ storage: createMemoryStorage() }).create()
}

/** A session in which a user asks, each answer's calls have results, and the user goes on. */
export async function sessionOf(answers: readonly AnswerEntry[], results = true): Promise<Session> {
  const session = await newSession()
  for (const answer of answers) {
    const entries: NewEntry[] = [{ type: "message", message: { role: "user", content: "go on" } }, answer]
    if (results) for (const call of toolCalls(answer)) entries.push(toolResult(call, `result of ${call.id}`))
    await session.append(entries)
  }
  await session.append({ type: "message", message: { role: "user", content: "go on" } })
  return session
}

export const text = fc.string({ unit: "grapheme", maxLength: 12 }).map((value) => `t${value}`)
export const input = fc
  .dictionary(
    fc.string({ minLength: 1, maxLength: 4 }),
    fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null)),
    { maxKeys: 3 },
  )
  .filter((value) => !Object.hasOwn(value, "__proto__"))
/** JSON as models write it: with spaces. */
export const json = fc
  .tuple(input, fc.boolean())
  .map(([value, spaced]) => JSON.stringify(value, null, spaced ? 1 : undefined))
export const signature = fc.base64String({ minLength: 4, maxLength: 16 })

/** Gives each call of an answer an id of its own. */
export function numbered<T>(items: readonly T[], name: (item: T, id: string) => T): T[] {
  return items.map((item, i) => name(item, `call_${i + 1}`))
}
