/** Histories that were cut off, copied and taken back: OpenAI's Responses API takes what the SDK's own model sends of them. */
import { createServer, type Server } from "node:http"
import { json } from "node:stream/consumers"
import { Agent, type AgentInputItem, type Model } from "@openai/agents-core"
import { OpenAIProvider } from "@openai/agents-openai"
import { createSessions, type Entry, type Sessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { type AgentRepair, type AgentSession, createAgentSession, logIdOf } from "@sessions/openai-agents"
import * as fc from "fast-check"
import { afterAll, beforeAll, expect, test } from "vitest"
import { runs } from "../../../.config/runs.ts"
import { refusedByOpenAIChat } from "../../providers/test/validators/openai-chat.ts"
import { refusedByOpenAIResponses } from "../../providers/test/validators/openai-responses.ts"
import { runner } from "./agents.ts"
import { hosted, kinds, question, reasoning } from "./items.ts"

let bodies: object[] = []
let server: Server
let models: { readonly responses: Model; readonly chat_completions: Model }
beforeAll(async () => {
  server = createServer((request, response) => {
    // What it would answer is of no interest.
    void json(request).then((body) => {
      bodies.push(body as object)
      response.writeHead(400).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const port = typeof address === "object" ? address?.port : undefined
  const [responses, chat_completions] = await Promise.all(
    [true, false].map((useResponses) =>
      new OpenAIProvider({ apiKey: "x", baseURL: `http://127.0.0.1:${port}/v1`, useResponses }).getModel("gpt-5.1"),
    ),
  )
  models = { responses, chat_completions } as typeof models
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const LONG = "x".repeat(80)
/** The rest of the id of an item that OpenAI has made in 2020, and stores no more. */
const OLD = `5f000000${"0".repeat(40)}`

/** Reasoning as the models of the SDK give it: encrypted, stored, and of other APIs. */
const thoughts = {
  encrypted: (n: number) => reasoning(`rs_${n}`),
  "encrypted, with a status": (n: number) => ({
    ...reasoning(`rs_${n}`),
    providerData: { id: `rs_${n}`, type: "reasoning", status: "completed", encrypted_content: "E" },
  }),
  stored: (n: number) => ({ type: "reasoning", id: `rs_stored_${n}`, content: [{ type: "input_text", text: "hm" }] }),
  "stored years ago": () => ({ type: "reasoning", id: `rs_${OLD}`, content: [] }),
  "of a copied history": () => reasoning("rs_again"),
  "with a long id": () => reasoning(`rs_${LONG}`),
  "of a server with ids of its own": (n: number) => reasoning(`item_${n}`),
  "of Chat Completions": () => ({
    type: "reasoning",
    content: [],
    rawContent: [{ type: "reasoning_text", text: "thought" }],
  }),
  "of Anthropic, by aisdk()": () => ({
    type: "reasoning",
    content: [{ type: "input_text", text: "hm" }],
    providerData: { model: "anthropic:claude", anthropic: { signature: "c2ln" } },
  }),
} satisfies Record<string, (n: number) => object>

const answer = (id: string | undefined, part: object = {}) => ({
  type: "message",
  role: "assistant",
  status: "completed",
  ...(id === undefined ? {} : { id }),
  content: [{ type: "output_text", text: "a", ...part }],
})

const answers = {
  own: (n: number) => answer(`msg_${n}`),
  "without an id": () => answer(undefined),
  "of a copied history": () => answer("msg_again"),
  "with a long id": () => answer(`msg_${LONG}`),
  "cut in a surrogate pair": (n: number) => answer(`msg_${n}`, { text: "half \ud83d" }),
  "of Chat Completions": () =>
    answer("chatcmpl-1", { providerData: { role: "assistant", refusal: null, annotations: [], reasoning: "hm" } }),
  audio: () => ({
    ...answer("chatcmpl-2"),
    content: [{ type: "audio", audio: "UklGRg==", providerData: { id: "audio_1", transcript: "said" } }],
  }),
} satisfies Record<string, (n: number) => object>

const questions = {
  text: () => question("and?"),
  "an image of a type that OpenAI does not take": () => ({
    ...question(""),
    content: [{ type: "input_image", image: "data:image/svg+xml;base64,PHN2Zz4=" }],
  }),
  "an image under the name of another type": () => ({
    ...question(""),
    content: [{ type: "input_image", image: "data:image/jpg;base64,iVBORw0KGgo=" }],
  }),
  audio: () => ({ ...question(""), content: [{ type: "audio", audio: "UklGRg==", format: "wav" }] }),
} satisfies Record<string, () => object>

/** A call of a function as another program has stored it. */
const odd = (callId: string) => [
  {
    type: "function_call",
    id: "chatcmpl-1",
    callId,
    name: "files.read file",
    arguments: "{}",
    status: "completed",
    providerData: { type: "function", function: {}, extra_content: { google: { thought_signature: "c2ln" } } },
  },
  {
    type: "function_call_result",
    callId,
    name: "files.read file",
    status: "completed",
    output: { type: "image", image: { data: "AAAA", mediaType: "image/tiff" } },
  },
]

const keysOf = <T extends object>(map: T) => Object.keys(map) as (keyof T)[]

const step = fc.record({
  // Functions alone have odd ids.
  kind: fc.constantFrom(...keysOf(kinds), ...(["function", "function", "odd", "odd"] as const), undefined),
  thinks: fc.option(fc.constantFrom(...keysOf(thoughts)), { nil: undefined }),
  isAnswered: fc.boolean(),
  says: fc.option(fc.constantFrom(...keysOf(answers)), { nil: undefined }),
  asks: fc.option(fc.constantFrom(...keysOf(questions)), { nil: undefined }),
  /** Local models use the ids of calls again, or long ones. */
  id: fc.constantFrom("own", "again", "long"),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

function itemsOf({ kind, thinks, isAnswered, says, asks, id }: Step, n: number): readonly object[] {
  const status = isAnswered ? "completed" : "in_progress"
  const isAny = kind === "function" || kind === "odd"
  const callId = isAny && id === "again" ? "c" : isAny && id === "long" ? `${LONG}.${n}` : `c${n}`
  const [call, ...result] =
    kind === undefined ? [hosted(`ws_${n}`, status)] : kind === "odd" ? odd(callId) : kinds[kind](callId)
  return [
    ...(thinks === undefined ? [] : [thoughts[thinks](n)]),
    call,
    ...(isAnswered ? result : []),
    ...(says === undefined ? [] : [answers[says](n)]),
    ...(asks === undefined ? [] : [questions[asks]()]),
  ]
}

/** The answers that OpenAI has given: each reasoning with what followed it. */
function givenBy(items: readonly object[]): readonly (readonly object[])[] {
  return items.flatMap((item, i) => {
    const { type, id, providerData } = item as { type?: string; id?: string; providerData?: object }
    const isGiven = type === "reasoning" && /^rs_(?:\d|stored|again|5f)/.test(id ?? "")
    return isGiven ? [[{ ...providerData, type, id }, items[i + 1] ?? {}]] : []
  })
}

/** OpenAI has stored this reasoning only. */
function notStored(body: object): readonly string[] {
  const { input = [] } = body as { input?: { type?: string; id?: string; encrypted_content?: string }[] }
  return input.flatMap(({ type, id = "", encrypted_content: data }) =>
    type === "reasoning" && data === undefined && !id.startsWith("rs_stored")
      ? [`Item with id '${id}' not found.`]
      : [],
  )
}

/** Something that happens to the history. */
const change = fc.record({
  kind: fc.constantFrom("pop", "delete", "edit", "branch", "compact", "transaction"),
  place: fc.nat(20),
})
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never

async function apply(sessions: Sessions, session: AgentSession<AgentInputItem>, { kind, place }: Change) {
  const items = await session.getItems()
  if (items.length === 0) return
  /** A question: what followed it is taken back, or kept. */
  const at = items.findLastIndex((item, i) => i <= place % items.length && "role" in item && item.role === "user")
  if (kind === "pop") await session.popItem()
  else if (kind === "compact")
    await session.replaceHistoryWithCompaction([
      { type: "compaction", encrypted_content: "E" },
      ...items.slice(Math.max(0, at)),
    ])
  else if (kind === "transaction")
    await session.applyHistoryTransaction({
      operationId: crypto.randomUUID(),
      transaction: { type: "replace_suffix", expectedSuffix: items.slice(Math.max(0, at)), replacement: [] },
    })
  else {
    const log = await sessions.open(await logIdOf("s"))
    const entries: Entry[] = []
    for await (const entry of log.entries()) if (entry.type === "message") entries.push(entry)
    const { id = "" } = entries[place % entries.length] ?? {}
    // What the log refuses, such as an edit of an item that no text has, leaves it as it was.
    if (kind === "delete") await log.tombstone(id).catch(() => undefined)
    else if (kind === "edit") await log.edit(id, { content: "edited" }).catch(() => undefined)
    else await log.branch(id).catch(() => undefined)
    await log.close()
  }
}

/** What the SDK's own model sends of the session. */
async function sentOf(session: AgentSession<AgentInputItem>, model: Model): Promise<object> {
  bodies = []
  await expect(runner.run(new Agent({ name: "guide", model }), "next", { session })).rejects.toThrow("400")
  return bodies[0] ?? {}
}

test("OpenAI takes what is sent of any history", () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 5 }),
      fc.array(change, { maxLength: 3 }),
      fc.nat(3),
      async (steps, changes, taken) => {
        const sessions = createSessions({ storage: createMemoryStorage() })
        const session = createAgentSession<AgentInputItem>({ sessions, sessionId: "s", api: "responses" })
        const items = [question("go"), ...steps.flatMap(itemsOf)]
        await session.addItems(items as AgentInputItem[])
        for (const one of changes) await apply(sessions, session, one)
        for (let i = 0; i < taken; i++) await session.popItem()
        const stored = await session.getItems()
        const body = await sentOf(session, models.responses)
        const refused = refusedByOpenAIResponses(body, { given: givenBy(items) }).map(({ message }) => message)
        expect({ refused: [...refused, ...notStored(body)], body }).toEqual({ refused: [], body })
        expect((await session.getItems()).slice(0, stored.length)).toEqual(stored)
      },
    ),
    { numRuns: runs(24) },
  ))

test("Chat Completions takes what is sent of any history, and the SDK throws at nothing of it", () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 5 }),
      fc.array(change, { maxLength: 3 }),
      async (steps, changes) => {
        const sessions = createSessions({ storage: createMemoryStorage() })
        const session = createAgentSession<AgentInputItem>({ sessions, sessionId: "s", api: "chat_completions" })
        await session.addItems([question("go"), ...steps.flatMap(itemsOf)] as AgentInputItem[])
        for (const one of changes) await apply(sessions, session, one)
        const body = await sentOf(session, models.chat_completions)
        // Servers with this API have fields of their own, such as Google's signatures and the thoughts of open models, which have to come back.
        const refused = refusedByOpenAIChat(body).filter(({ message }) => !/extra_content|\.reasoning'/.test(message))
        expect({ refused: refused.map(({ message }) => message), body }).toEqual({ refused: [], body })
      },
    ),
    { numRuns: runs(12) },
  ))

test("reasoning that is not encrypted is sent for 30 days if it is stored, and what followed it without its id later", async () => {
  const sentAt = async (now: number | undefined, store: boolean) => {
    const repairs: string[] = []
    const sessions = createSessions({
      storage: createMemoryStorage(),
      ...(now === undefined ? {} : { now: () => now }),
    })
    const onRepair = ({ message }: AgentRepair) => void repairs.push(message)
    const session = createAgentSession<AgentInputItem>({ sessions, sessionId: "s", store, onRepair })
    await session.addItems([question("go"), thoughts.stored(1), answers.own(1)] as AgentInputItem[])
    const { input } = (await sentOf(session, models.responses)) as { input: { type?: string; id?: string }[] }
    return { ids: input.map(({ id }) => id), repairs }
  }
  expect(await sentAt(undefined, true)).toEqual({ ids: [undefined, "rs_stored_1", "msg_1", undefined], repairs: [] })
  const [left, rest] = [
    'The reasoning "rs_stored_1" of the session "s" is left out of what a model gets, because ',
    [undefined, undefined, undefined],
  ]
  expect(await sentAt(Date.UTC(2026, 0), true)).toEqual({
    ids: rest,
    repairs: [`${left}OpenAI's store has had it for 30 days, and it is not encrypted.`],
  })
  expect(await sentAt(undefined, false)).toEqual({
    ids: rest,
    repairs: [`${left}it is not encrypted, and \`store\` is false.`],
  })
})

test("what followed a reasoning that was deleted is sent without its id", async () => {
  const sessions = createSessions({ storage: createMemoryStorage() })
  const session = createAgentSession<AgentInputItem>({ sessions, sessionId: "s" })
  await session.addItems([question("go"), thoughts.encrypted(1), answers.own(1)] as AgentInputItem[])
  const log = await sessions.open(await logIdOf("s"))
  for await (const entry of log.entries()) if (JSON.stringify(entry).includes("rs_1")) await log.tombstone(entry.id)
  await log.close()
  const { input } = (await sentOf(session, models.responses)) as { input: object[] }
  expect(input.map((item) => "id" in item)).toEqual([false, false, false])
})

test("without `api` the items are those of the last answer's API", async () => {
  const sentOfLast = async (...items: readonly object[]) => {
    const sessions = createSessions({ storage: createMemoryStorage() })
    const session = createAgentSession<AgentInputItem>({ sessions, sessionId: "s" })
    await session.addItems([question("go"), ...items] as AgentInputItem[])
    return JSON.stringify(await sentOf(session, models.chat_completions))
  }
  const thought = thoughts["of Chat Completions"]()
  expect(await sentOfLast(thought, answers["of Chat Completions"]())).toContain(`"reasoning":"thought"`)
  expect(await sentOfLast(thought, answers["of Chat Completions"](), question("and?"), answers.own(1))).not.toContain(
    `"reasoning":"thought"`,
  )
})
