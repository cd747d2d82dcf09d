/**
 * The law of the prefix: while a conversation only grows, each request begins with the one before it, so that what the provider has cached of it
 * is read again. A result that takes the place of an invented one, an edit, a deletion, a branch and a compaction are the exceptions.
 */
import type { Session } from "@sessions/core"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { runs } from "../../../.config/runs.ts"
import { toAiSdk } from "../src/ai-sdk/index.ts"
import { toAnthropic } from "../src/anthropic/index.ts"
import { toolCalls, toolResult } from "../src/index.ts"
import { newSession } from "./answers.ts"
import { blocks, said, type Step } from "./histories.ts"
import { RECEIVERS, type Receiver } from "./sendable.ts"

/** A question that says something. One of white space alone is in no request, which may then need a message of ours in its place. */
const asked = blocks.map((content) => [{ type: "text" as const, text: "And?" }, ...content])

/** A question, and answers of which each but the last calls tools; any of them may be cut off. */
const turn = fc.record({ question: asked, answers: fc.array(said, { minLength: 1, maxLength: 3 }), result: blocks })

async function requestsOf(
  turns: readonly (typeof turn extends fc.Arbitrary<infer T> ? T : never)[],
  { request }: Pick<Receiver, "request">,
) {
  const session = await newSession()
  const requests: object[] = []
  for (const { question, answers, result } of turns) {
    await session.append({ type: "message", message: { role: "user", content: question } })
    for (const answer of answers) {
      requests.push(request(await session.context()))
      await answered(session, answer, result)
    }
  }
  requests.push(request(await session.context()))
  return requests
}

async function answered(
  session: Session,
  answer: Step,
  result: typeof blocks extends fc.Arbitrary<infer T> ? T : never,
) {
  await answer(session)
  const { messages } = await session.messages({ limit: 1 })
  const last = messages[0]?.message
  if (last?.role !== "assistant") return
  for (const call of toolCalls(last)) await session.append(toolResult(call, result.length === 0 ? "" : result))
}

type Fields = Readonly<Record<string, unknown>>

/**
 * A request as the model reads it: texts and parts in their order. Messages that are merged have the parts of all, and texts that are joined begin
 * as the first of them.
 */
function readOf(request: object): string {
  const { messages, contents, input } = request as Readonly<Record<string, readonly Fields[] | undefined>>
  const parts = (messages ?? contents ?? input ?? []).flatMap(({ content, parts, ...rest }) => {
    const list = parts ?? content ?? []
    const inside = typeof list === "string" ? [{ text: list }] : (list as readonly Fields[])
    return [JSON.stringify(rest), ...inside.map((part) => (isText(part) ? String(part["text"]) : JSON.stringify(part)))]
  })
  // Behind a last answer, which the model is to go on with, is a message of ours. What the user says next takes its place.
  if (parts.at(-1) === GO_ON) parts.pop()
  return parts.join("\n")
}

const GO_ON = "Continue."
const isText = ({ type, text, ...more }: Fields) =>
  typeof text === "string" && (type === undefined || String(type).endsWith("text")) && Object.keys(more).length === 0

const CACHED: readonly Pick<Receiver, "name" | "request">[] = RECEIVERS.map((receiver) =>
  // Marks of the cache move with the end.
  receiver.name === "Anthropic"
    ? { ...receiver, request: (context: Parameters<Receiver["request"]>[0]) => toAnthropic(context).request }
    : receiver,
)

const AI_SDK = [
  "anthropic.messages",
  "openai.responses",
  "openai.chat",
  "google.generative-ai",
  "mistral.chat",
  "kimi.chat",
].map((provider) => ({
  name: `AI SDK, ${provider}`,
  request: (context: Parameters<Receiver["request"]>[0]) => toAiSdk(context, { model: { provider } }).request,
}))

test.each([...CACHED, ...AI_SDK])("$name: a request begins with the one before it", (receiver) =>
  fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 4 }), async (turns) => {
      const requests = await requestsOf(turns, receiver)
      for (const [i, request] of requests.entries()) {
        const before = readOf(requests[i - 1] ?? {})
        expect(readOf(request).slice(0, before.length)).toBe(before)
      }
    }),
    { numRuns: runs(12) },
  ),
)
