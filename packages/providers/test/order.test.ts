/** A request begins and ends where its receiver takes it, neighbours of one role are one message, and a request is the beginning of the next. */
import type { NewEntry, Session } from "@sessions/core"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { runs } from "../../../.config/runs.ts"
import { toAiSdk } from "../src/ai-sdk/index.ts"
import { toAnthropic } from "../src/anthropic/index.ts"
import { toGemini } from "../src/gemini/index.ts"
import { type Context, type RequestDiagnostic, toolCalls, toolResult } from "../src/index.ts"
import { BEGINNING, CONTINUE } from "../src/shared/order.ts"
import { newSession } from "./answers.ts"
import { say } from "./sayers.ts"

/** A message of a request in one form: its role, and its contents as JSON. */
interface Sent {
  readonly role: "user" | "answer"
  readonly content: readonly string[]
}

const sent = (role: string, content: string | readonly object[]): Sent => ({
  role: role === "assistant" || role === "model" ? "answer" : "user",
  content:
    typeof content === "string"
      ? [JSON.stringify({ type: "text", text: content })]
      : content.map((one) => JSON.stringify(one)),
})

type Told = { readonly messages: readonly Sent[]; readonly diagnostics: readonly RequestDiagnostic[] }
const TARGETS: Readonly<Record<string, (context: Context) => Told>> = {
  anthropic: (context) => {
    const { request, diagnostics } = toAnthropic(context)
    return { messages: request.messages.map(({ role, content }) => sent(role, content)), diagnostics }
  },
  gemini: (context) => {
    const { request, diagnostics } = toGemini(context)
    return { messages: request.contents.map(({ role, parts }) => sent(role, parts)), diagnostics }
  },
  "ai-sdk": (context) => {
    const { request, diagnostics } = toAiSdk(context)
    return { messages: request.messages.map(({ role, content }) => sent(role, content)), diagnostics }
  },
}

const user = (content: string): NewEntry => ({ type: "message", message: { role: "user", content } })
const assistant = (content: string, more: object = {}): NewEntry => ({
  type: "message",
  message: { role: "assistant", content, ...more },
})
const call = (id: string): NewEntry => ({
  type: "message",
  message: { role: "assistant", content: [{ type: "toolCall", id, name: "read", arguments: {} }] },
})
const result = (id: string) => toolResult({ id, name: "read" }, `result of ${id}`)
const files = { readFiles: [], modifiedFiles: [] }

async function sessionOf(...entries: readonly NewEntry[]): Promise<Session> {
  const session = await newSession()
  for (const entry of entries) await session.append(entry)
  return session
}

async function idsOf(session: Session): Promise<readonly string[]> {
  const ids: string[] = []
  for await (const { id } of session.entries()) ids.push(id)
  return ids
}

describe.each(Object.entries(TARGETS))("%s", (name, target) => {
  const told = async (session: Session, o: Parameters<Session["context"]>[0] = {}) => target(await session.context(o))
  const roles = ({ messages }: Told) => messages.map(({ role }) => role).join(" ")

  test("a request whose first message was deleted, edited to nothing or never there begins with a user's, which is reported", async () => {
    const entries = [user("my password"), call("c1"), result("c1"), assistant("done"), user("next")]
    const deleted = await sessionOf(...entries)
    await deleted.tombstone((await idsOf(deleted))[0] ?? "")
    const edited = await sessionOf(...entries)
    await edited.edit((await idsOf(edited))[0] ?? "", null)
    for (const session of [deleted, edited, await sessionOf(...entries.slice(1))]) {
      const request = await told(session)
      expect(request.messages[0]).toEqual({ role: "user", content: [expect.stringContaining(BEGINNING) as string] })
      expect(JSON.stringify(request.messages)).not.toContain("my password")
      expect(request.diagnostics).toMatchObject([
        { code: "repaired", message: expect.stringContaining("takes no answer first") as string },
      ])
    }
  })

  test("a request that would end with an answer asks to go on, and one that does not is left as it is", async () => {
    for (const stopReason of ["aborted", "error", "end_turn", "max_tokens", undefined]) {
      const session = await sessionOf(user("q"), assistant("half ", stopReason === undefined ? {} : { stopReason }))
      const asked = await told(session)
      expect(roles(asked)).toBe("user answer user")
      expect(asked.messages.at(-1)?.content).toEqual([expect.stringContaining(CONTINUE)])
      const [repaired] = asked.diagnostics
      expect(repaired).toMatchObject({
        code: "repaired",
        message: expect.stringContaining("append a message") as string,
      })
      await session.append(user("go on"))
      expect((await told(session)).diagnostics).toEqual([])
    }
  })

  test("after a summary as a pair with nothing kept, the request ends with a user's message, before and after the next answer", async () => {
    const session = await sessionOf(user("q"), assistant("a"), user("k"))
    const kept = (await idsOf(session))[2] ?? ""
    await session.append({
      type: "compaction",
      summary: "S",
      firstKeptEntryId: kept,
      tokensBefore: 9,
      ...files,
    })
    await session.tombstone(kept)
    const before = await told(session, { summaryAs: "pair" })
    expect(roles(before)).toBe("user answer user")
    await session.append(assistant("b", { stopReason: "end_turn" }))
    const after = await told(session, { summaryAs: "pair" })
    expect(after.messages.slice(0, 3)).toEqual(before.messages)
    expect(roles(after)).toBe("user answer user answer user")
  })

  test("a call follows a user's message: entries of one answer are one message, or neighbours that the API joins", async () => {
    const session = await sessionOf(user("q"), assistant("I look."), call("c1"), call("c2"), result("c1"), result("c2"))
    expect(roles(await told(session))).toBe(
      name === "anthropic" ? "user answer answer user answer user" : "user answer user answer user",
    )
    await session.append([assistant("half", { stopReason: "aborted" }), call("c3"), result("c3")])
    expect(roles(await told(session))).toMatch(/user answer user answer user$/)
  })

  test("an answer of nothing but thinking that was cut off is no message", async () => {
    const thinking = { type: "thinking", thinking: "Let me" } as const
    for (const provider of ["anthropic", "google", "openai"])
      for (const content of [[thinking], [{ ...thinking, signature: "SIG" }]]) {
        const message = { role: "assistant", provider, stopReason: "aborted", content } as const
        const request = await told(await sessionOf(user("q"), { type: "message", message }, user("again")))
        const isGoogle = name === "gemini" && provider === "google" && content[0] !== thinking
        expect(roles(request).includes("answer")).toBe(isGoogle)
        if (!isGoogle) expect(request.diagnostics.map(({ code }) => code)).toContain("thinking")
      }
  })

  test("an empty context is a request that is taken", () => {
    expect(roles(target({ messages: [] }))).toBe("user")
  })

  test("each request is the beginning of the next one, wherever answers are cut off and asked for again", async () => {
    const step = fc.record({
      say,
      cut: fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.nat(12)),
      fails: fc.boolean(),
      asks: fc.boolean(),
    })
    const blocks = ({ messages }: Told) => messages.flatMap(({ role, content }) => content.map((one) => [role, one]))
    const property = fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 6 }), async (steps) => {
      const session = await sessionOf(user("first"))
      let before = await told(session)
      for (const { say: answer, cut, fails, asks } of steps) {
        const count = (await session.context()).messages.length
        await answer(session, cut, fails)
        const { messages } = await session.messages({ limit: 1 })
        const last = messages[0]?.message
        // The context has no message of nothing but white space.
        const isAnswered = (await session.context()).messages.length > count
        if (isAnswered && last?.role === "assistant")
          for (const one of toolCalls(last)) await session.append(toolResult(one, one.id))
        if (isAnswered && asks) await session.append(user("more"))
        const after = await told(session)
        expect(blocks(after).slice(0, blocks(before).length)).toEqual(blocks(before))
        before = after
      }
    })
    await fc.assert(property, { numRuns: runs(60) })
  })
})
