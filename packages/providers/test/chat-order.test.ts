/** Chat Completions: for each dialect any history is a request with the roles, ids and names that it takes, and nothing of a text is lost. */
import { createSessions, type NewEntry, type Session } from "@sessions/core"
import { automaticCompaction, compact } from "@sessions/core/compaction"
import { createMemoryStorage } from "@sessions/memory"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { toolCalls, toolResult } from "../src/index.ts"
import {
  CHAT_DIALECTS,
  type ChatDialect,
  fromOpenAIChat,
  type OpenAIChatOptions,
  toOpenAIChat,
} from "../src/openai-chat/index.ts"
import { runs } from "../../../.config/runs.ts"
import { newSession } from "./answers.ts"

type Fields = Record<string, unknown>
const dialects = Object.keys(CHAT_DIALECTS) as ChatDialect[]
const strict: readonly ChatDialect[] = ["mistral", "gemini", "alternating"]
const userLast: readonly ChatDialect[] = [...strict, "deepseek"]
const answersResults: readonly ChatDialect[] = ["mistral", "alternating"]
const ids: Readonly<Record<ChatDialect, RegExp>> = {
  openai: /^[ -~]{1,40}$/,
  mistral: /^[a-zA-Z0-9]{9}$/,
  deepseek: /^[ -~]+$/,
  kimi: /^[ -~]+$/,
  openrouter: /^[ -~]{1,40}$/,
  gemini: /^[ -~]+$/,
  alternating: /^[ -~]+$/,
}
const PNG = { type: "image", mimeType: "image/png", data: "AAAA" } as const

/** What is appended at once: all kinds of what may follow each other in a log. */
const step = fc.oneof(
  fc.record({ kind: fc.constant("user" as const), image: fc.boolean() }),
  fc.record({ kind: fc.constant("system" as const) }),
  fc.record({ kind: fc.constant("text" as const), ended: fc.boolean() }),
  fc.record({
    kind: fc.constant("calls" as const),
    ids: fc.array(fc.constantFrom("call_1", "", "x".repeat(50), "functions.w:0", "ünï"), {
      minLength: 1,
      maxLength: 3,
    }),
    name: fc.constantFrom("w", "", "1st", "_w", "mcp.read file", "n".repeat(70)),
    /** How many have results. */
    results: fc.nat(3),
    image: fc.boolean(),
    provider: fc.constantFrom("openai", "mistral", "deepseek"),
  }),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

async function append(session: Session, one: Step, i: number): Promise<void> {
  const text = { type: "text", text: `t${i}.` } as const
  const say = (role: "user" | "system" | "assistant", content: readonly object[], more: object = {}): NewEntry =>
    ({ type: "message", message: { role, content, ...more } }) as NewEntry
  if (one.kind === "user") await session.append(say("user", one.image ? [text, PNG] : [text]))
  else if (one.kind === "system") await session.append(say("system", [text]))
  else if (one.kind === "text") await session.append(say("assistant", [text], one.ended ? { stopReason: "stop" } : {}))
  else {
    const calls = one.ids.map((id) => ({ id, type: "function", function: { name: one.name, arguments: "{}" } }))
    const choices = [{ finish_reason: "tool_calls", message: { content: text.text, tool_calls: calls } }]
    const answer = fromOpenAIChat({ id: `r${i}`, choices }, { provider: one.provider })
    await session.append(answer)
    const output = one.image ? [text, PNG] : text.text
    for (const call of toolCalls(answer).slice(0, one.results)) await session.append(toolResult(call, output))
  }
}

const history = fc.array(step, { maxLength: 8 })

function sent(context: Awaited<ReturnType<Session["context"]>>, o: OpenAIChatOptions): readonly Fields[] {
  return toOpenAIChat(context, o).request.messages
}

test.each(dialects)("%s: each history is a request with roles, ids and names that it takes", (dialect) =>
  fc.assert(
    fc.asyncProperty(history, fc.boolean(), async (steps, hasSystem) => {
      const session = await newSession()
      for (const [i, one] of steps.entries()) await append(session, one, i)
      const messages = sent(await session.context(), { dialect, ...(hasSystem ? { system: "S" } : {}) })
      expect(messages.length).toBeGreaterThan(0)
      let open: unknown[] = []
      for (const [i, message] of messages.entries()) {
        const { role } = message
        const before = messages[i - 1]?.["role"]
        if (role === "tool") {
          expect(open).toContain(message["tool_call_id"])
          open = open.filter((id) => id !== message["tool_call_id"])
          continue
        }
        expect(open).toEqual([])
        if (strict.includes(dialect) && role === "system") expect(i).toBe(0)
        if (answersResults.includes(dialect) && before === "tool") expect(role).toBe("assistant")
        if (strict.includes(dialect)) expect(before).not.toBe(role)
        for (const { id, function: called } of (message["tool_calls"] ?? []) as { id: string; function: Fields }[]) {
          open.push(id)
          expect(id).toMatch(ids[dialect])
          expect(called["name"]).toMatch(dialect === "kimi" ? /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/ : /^[a-zA-Z0-9_-]{1,64}$/)
        }
        expect(new Set(open).size).toBe(open.length)
      }
      expect(open).toEqual([])
      const first = messages.find(({ role }) => role !== "system")
      if (strict.includes(dialect)) expect(first?.["role"]).toBe("user")
      if (userLast.includes(dialect)) expect(["user", "tool", "system"]).toContain(messages.at(-1)?.["role"])
    }),
    { numRuns: runs(15) },
  ),
)

test.each(dialects)("%s: no text of a history is lost, and its images are sent or named", (dialect) =>
  fc.assert(
    fc.asyncProperty(history, async (steps) => {
      const session = await newSession()
      for (const [i, one] of steps.entries()) await append(session, one, i)
      const context = await session.context()
      const { request, diagnostics } = toOpenAIChat(context, { dialect })
      const all = JSON.stringify(request)
      const images = context.messages.flatMap(({ message }) => message.content.filter(({ type }) => type === "image"))
      for (const { message } of context.messages)
        for (const block of message.content) if (block.type === "text") expect(all).toContain(block.text)
      const unsent = diagnostics.filter(({ code }) => code === "images").reduce((sum, { count }) => sum + count, 0)
      expect(all.split("data:image/png").length - 1 + unsent).toBe(images.length)
    }),
    { numRuns: runs(12) },
  ),
)

test.each(dialects)("%s: a request that was answered is the beginning of the next one", (dialect) =>
  fc.assert(
    fc.asyncProperty(fc.array(history, { minLength: 2, maxLength: 4 }), async (turns) => {
      const session = await newSession()
      let before: readonly Fields[] = []
      let i = 0
      for (const steps of turns) {
        for (const one of steps) if (one.kind !== "system") await append(session, one, i++)
        await append(session, { kind: "user", image: false }, i++)
        const request = sent(await session.context(), { dialect, provider: "p", system: "S" })
        expect(request.slice(0, before.length)).toEqual(before)
        await append(session, { kind: "text", ended: true }, i++)
        before = request
      }
    }),
    { numRuns: runs(10) },
  ),
)

test.each(strict)("%s: after a compaction the summary and the user's message are one message", async (dialect) => {
  for (const summaryAs of ["user", "pair"] as const) {
    const compaction = { keepTurns: 1, summaryAs, summarize: async () => "## Goal\nx" }
    const session = await createSessions({
      storage: createMemoryStorage(),
      compaction: automaticCompaction(compaction),
    }).create()
    for (let i = 0; i < 4; i++)
      await session.append([
        { type: "message", message: { role: "user", content: `q${i}` } },
        { type: "message", message: { role: "assistant", content: "a ".repeat(500) } },
      ])
    await compact(session)
    await session.append({ type: "message", message: { role: "user", content: "next" } })
    const messages = sent(await session.context(), { dialect })
    expect(messages.map(({ role }) => role).filter((role, i, all) => role === all[i - 1])).toEqual([])
    for (const part of ["## Goal", "q3", "next"]) expect(JSON.stringify(messages)).toContain(part)
  }
})

test.each(dialects)(
  "%s: an answer of more calls than it takes is several, each before its results",
  async (dialect) => {
    const ids = Array.from({ length: 300 }, (_, i) => `call_${i}`)
    const session = await newSession()
    const calls = ids.map((id) => ({ id, type: "function", function: { name: "w", arguments: "{}" } }))
    const choices = [{ finish_reason: "tool_calls", message: { content: "I look", tool_calls: calls } }]
    const answer = fromOpenAIChat({ choices })
    const results = toolCalls(answer).map((call) => toolResult(call, `of ${call.id}`))
    await session.append([{ type: "message", message: { role: "user", content: "go" } }, answer, ...results])
    const { request, diagnostics } = toOpenAIChat(await session.context(), { dialect })
    const messages: readonly Fields[] = request.messages
    expect(
      messages.map(({ tool_calls: some }) => (some as unknown[] | undefined)?.length ?? 0).filter((n) => n > 0),
    ).toEqual([128, 128, 44])
    expect(messages.slice(1).map(({ role }) => role)).toEqual(
      [128, 128, 44].flatMap((n) => ["assistant", ...Array.from({ length: n }, () => "tool")]),
    )
    expect(messages.filter(({ content }) => content === "I look")).toHaveLength(1)
    expect(diagnostics.map(({ code }) => code)).toContain("repaired")
  },
)

test("a context without messages is a request with one: no provider takes none", async () => {
  const session = await newSession()
  for (const dialect of dialects) expect(sent(await session.context(), { dialect })).toMatchObject([{ role: "user" }])
})
