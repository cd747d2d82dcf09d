/** A wrong argument, and a misspelt or wrong option, of each function of each entry is `invalid` before anything is done, and says what to pass. */
import { SessionError } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import * as aiSdk from "../src/ai-sdk/index.ts"
import * as anthropic from "../src/anthropic/index.ts"
import * as gemini from "../src/gemini/index.ts"
import * as main from "../src/index.ts"
import * as chat from "../src/openai-chat/index.ts"
import * as responses from "../src/openai-responses/index.ts"
import * as rules from "../src/rules.ts"
import { newSession } from "./answers.ts"

type AnyFunction = (...args: readonly unknown[]) => unknown
type Options = Readonly<Record<string, readonly unknown[]>>

interface Row {
  /** Right ones: those in front of the options. */
  readonly args: readonly unknown[]
  /** What is wrong for others and right here, or the other way round. */
  readonly right?: readonly unknown[]
  readonly wrong?: readonly unknown[]
  /** Wrong values of each option. */
  readonly options?: Options
}

const session = await newSession()
const storage = createMemoryStorage()
const promise = Promise.resolve({})
const empty = {}
const list: readonly unknown[] = []
const fault = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }
const STRANGE: readonly unknown[] = [
  undefined,
  null,
  5,
  "text",
  list,
  empty,
  () => 1,
  promise,
  session,
  fault,
  new Error("no"),
]

const NO_TEXT = [5, null, empty, list]
const NO_BOOLEAN = [0, "true", null]
const NO_COUNT = ["1", -1, Number.NaN, null]
const NO_TIME = ["now", new Date(0), Number.NaN]
const NO_MODEL = [5, empty, { provider: 5 }, { provider: "a", modelId: 5 }]

const STREAM: Options = {
  onEvent: ["log", true],
  signal: [new AbortController(), true, null],
  keep: [true, storage, null],
}
const CHAT_ANSWER: Options = { choice: NO_COUNT, provider: NO_TEXT }
const GEMINI_ANSWER: Options = { candidate: NO_COUNT }
const RESPONSES_ANSWER: Options = { provider: NO_TEXT }
const RESULT: Options = { isError: NO_BOOLEAN }

const context = { messages: [] }
const items = [{ role: "user", content: "hi" }, { message: { role: "user", content: "hi" } }, null]
const request = (options: Options): Row => ({
  args: [context],
  wrong: [...items.map((item) => ({ messages: [item] })), { messages: [], systemPromptOverride: 5 }],
  options: { system: NO_TEXT, ...options },
})
const stream = (options: Options = {}): Row => ({
  args: [session, events()],
  right: [session],
  options: { ...STREAM, ...options },
})
const call = { type: "toolCall", id: "c", name: "ls", arguments: {} }
const model = { provider: "anthropic.messages", modelId: "m" }
const step = { model, usage: {}, finishReason: "stop", response: {} }

async function* events(): AsyncGenerator {}

const FORM = { refused: /x/g, filler: "_", min: 1, max: 9, says: "ids" }

const ROWS: Readonly<Record<string, Row>> = {
  toolCalls: {
    args: [{ role: "assistant", content: [] }],
    // An answer of Anthropic's API, one of the Responses API, and one of Chat Completions.
    wrong: [{ type: "message", role: "assistant", content: [] }, { output: [] }, { role: "assistant", content: null }],
  },
  toolResult: { args: [call, "x"], wrong: [{ id: "c" }, { name: "ls" }], options: RESULT },
  toolName: { args: ["ls"], right: ["text"] },
  keepAnswers: { args: [storage, "id"], options: { every: [0, -1, "3000", Number.NaN] } },

  toAnthropic: request({
    cache: ["1h", 5, empty, { ttl: "2h" }, { ttl: "1h", tttl: "1h" }],
    maxImages: NO_COUNT,
    now: NO_TIME,
  }),
  fromAnthropic: { args: [{ content: [] }], wrong: [{ content: "hi" }, { content: [null] }] },
  appendAnthropicStream: stream(),
  accumulateAnthropic: { args: [], right: STRANGE },

  toOpenAIChat: request({
    systemRole: ["user", 5],
    dialect: [
      "deepsek",
      5,
      { feilds: [] },
      { fields: "reasoning" },
      { order: { begins: "user", ends: "user" } },
      { order: { begins: "system", ends: "user", joined: [] } },
      { images: {} },
      { callName: { ...FORM, refused: /x/ } },
      { callId: FORM },
      { reasoning: { of: "some", empty: "" } },
      { maxCalls: 0 },
    ],
    provider: NO_TEXT,
    now: NO_TIME,
  }),
  fromOpenAIChat: {
    args: [{ choices: [{ message: {} }] }],
    wrong: [{ choices: [{ delta: {} }] }, { choices: [null] }, { choices: {} }],
    options: CHAT_ANSWER,
  },
  appendOpenAIChatStream: stream(CHAT_ANSWER),
  accumulateOpenAIChat: { args: [], options: CHAT_ANSWER },

  toOpenAIResponses: request({ provider: NO_TEXT, store: NO_BOOLEAN, now: NO_TIME }),
  fromOpenAIResponses: {
    args: [{ output: [] }],
    wrong: [{ output: "hi" }, { output: [null] }],
    options: RESPONSES_ANSWER,
  },
  appendOpenAIResponsesStream: stream(RESPONSES_ANSWER),
  accumulateOpenAIResponses: { args: [], options: RESPONSES_ANSWER },
  hostedResult: { args: [{ ...call, itemType: "shell_call" }, { output: [] }] },

  toGemini: request({
    ids: NO_BOOLEAN,
    model: NO_TEXT,
    foreignSignature: NO_TEXT,
    imagesInResults: NO_BOOLEAN,
  }),
  fromGemini: {
    args: [{ candidates: [{}] }],
    wrong: [{ candidates: null }, { candidates: [null] }, { candidates: [{ content: { parts: "hi" } }] }],
    options: GEMINI_ANSWER,
  },
  appendGeminiStream: stream(GEMINI_ANSWER),
  accumulateGemini: { args: [], options: GEMINI_ANSWER },

  toAiSdk: request({ model: ["anthropic/claude", ...NO_MODEL], store: NO_BOOLEAN, now: NO_TIME }),
  fitAiSdk: {
    args: [[]],
    right: [list],
    // A message of `useChat`.
    wrong: [[{ role: "user", parts: [] }], [{ role: "data", content: "hi" }], [null]],
    options: { model: NO_MODEL, store: NO_BOOLEAN, now: NO_TIME, onDiagnostic: ["log"] },
  },
  fromAiSdk: {
    args: [{ responseMessages: [], steps: [step] }],
    wrong: [
      { response: { messages: [] }, steps: [] },
      { responseMessages: [], steps: [{}] },
      { responseMessages: [{ role: "tool", content: "hi" }], steps: [] },
    ],
  },
  fromAiSdkCall: { args: [{ content: [], ...model }], wrong: [{ content: "hi" }] },
  appendAiSdkStream: stream({ model: ["anthropic/claude", ...NO_MODEL] }),
  accumulateAiSdk: { args: [], options: { model: ["anthropic/claude", ...NO_MODEL] } },
  aiSdkResult: { args: [call, "x"], wrong: [{ id: "c" }, { name: "ls" }], options: RESULT },

  isItemId: { args: ["message", "id"], right: STRANGE },
  referenceProblem: {
    args: [{ id: "msg_1" }, { isStored: true, now: 0 }],
    right: [empty, promise, session, fault, STRANGE.at(-1)],
  },
  CallIds: { args: [FORM], right: [empty, promise, session, fault, STRANGE.at(-1)] },
  sentName: { args: ["ls", FORM], right: ["text"] },
  fittedImages: { args: [[], rules.RESPONSES_RULES], right: [list] },
  wellFormed: { args: ["text"], right: STRANGE },
}

const ENTRIES = { ...main, ...anthropic, ...chat, ...responses, ...gemini, ...aiSdk, ...rules }
const FUNCTIONS = new Map<string, AnyFunction>(
  Object.entries(ENTRIES).flatMap(([name, value]) => {
    if (typeof value !== "function") return []
    const make = (...args: readonly unknown[]) =>
      name === "CallIds" ? Reflect.construct(value, args) : Reflect.apply(value, undefined, args)
    return [[name, make]]
  }),
)

/** What is thrown, or rejected with. */
async function failureOf(name: string, args: readonly unknown[]): Promise<unknown> {
  try {
    await FUNCTIONS.get(name)?.(...args)
    return undefined
  } catch (error) {
    return error
  }
}

async function refusal(name: string, args: readonly unknown[]): Promise<string> {
  const error = await failureOf(name, args)
  expect(error, `${name} of ${describeArgs(args)}`).toBeInstanceOf(SessionError)
  expect(error).toMatchObject({ code: "invalid" })
  const { message } = error as SessionError
  expect(message).toMatch(new RegExp(`^${name}\\b`))
  return message
}

function describeArgs(args: readonly unknown[]): string {
  return args
    .map((one) => (typeof one === "object" && one !== null ? Object.keys(one).join() : String(one)))
    .join(" | ")
}

test("each function of each entry has a row", () => {
  expect(Object.keys(ROWS).toSorted()).toEqual([...FUNCTIONS.keys()].toSorted())
})

test.each(Object.entries(ROWS))("%s", async (name, { args, right = [], wrong = [], options = {} }) => {
  expect(await failureOf(name, args)).not.toBeInstanceOf(SessionError)
  const [first, ...more] = args
  if (args.length > 0)
    for (const one of [...STRANGE.filter((value) => !right.includes(value)), ...wrong]) {
      const message = await refusal(name, [one, ...more])
      if (one === promise) expect(message).toContain("a promise; await it first")
    }
  if (Object.keys(options).length === 0) return
  for (const one of [null, 5, "text", []])
    expect(await refusal(name, [...args, one])).toContain("takes an object with the options")
  for (const [option, values] of Object.entries(options)) {
    expect(await refusal(name, [...args, { [`${option}s`]: undefined, [`${option}z`]: 1 }])).toContain(
      `has no option "${option}z". Did you mean "${option}"?`,
    )
    for (const value of values)
      expect(await refusal(name, [first, ...more, { [option]: value }].slice(args.length === 0 ? 1 : 0))).toContain(
        option,
      )
  }
})

test.each(Object.keys(ROWS).filter((name) => name.startsWith("to") && ROWS[name]?.args[0] === context))(
  "%s says what to pass in place of a session",
  async (name) => {
    const way = `\`${name}(await session.context())\``
    expect(await refusal(name, [session])).toBe(`${name} takes a context, as in ${way}, not a session.`)
    expect(await refusal(name, [session.context()])).toBe(
      `${name} takes a context, as in ${way}, not a promise; await it first.`,
    )
    expect(await refusal(name, [context, { sytem: "x" }])).toBe(`${name} has no option "sytem". Did you mean "system"?`)
  },
)

test.each(["fromAnthropic", "fromOpenAIChat", "fromOpenAIResponses", "fromGemini", "fromAiSdk"])(
  "%s says that a provider's error is no answer",
  async (name) => {
    expect(await refusal(name, [fault])).toContain("not an error, which is no answer: overloaded_error: Overloaded.")
    expect(await refusal(name, [{ error: { code: 503, message: "No capacity" } }])).toContain("No capacity")
    expect(await refusal(name, [events()])).toContain("not a stream")
  },
)

test.each(Object.keys(ROWS).filter((name) => name.startsWith("append")))("%s does nothing before", async (name) => {
  const done: string[] = []
  const to = { append: async () => done.push("append") }
  async function* read() {
    done.push("read")
    yield { type: "ping" }
  }
  await refusal(name, [to, read(), { onEvnt: () => done.push("event") }])
  expect(done).toEqual([])
  // A whole answer, and what `await` gives of a promise of one.
  for (const whole of [{ content: [] }, Promise.resolve({ content: [] }), undefined])
    expect(await refusal(name, [to, whole])).toContain("the stream of an answer")
  expect(done).toEqual([])
  const refused = new Error("429")
  await expect(FUNCTIONS.get(name)?.(to, Promise.reject(refused))).rejects.toBe(refused)
  // A rejection that nobody handles fails the test.
  await refusal(name, [to, Promise.reject(refused), { onEvnt: () => undefined }])
})

test.each(Object.keys(ROWS).filter((name) => name.startsWith("accumulate")))("%s takes any object", (name) => {
  const accumulator = FUNCTIONS.get(name)?.() as main.Accumulator<unknown>
  const add = (event: unknown) => accumulator.add(event)
  for (const event of [{ type: "of_tomorrow", index: 3, more: [1] }, {}]) expect(() => add(event)).not.toThrow()
  for (const event of [undefined, null, "Hello", new Uint8Array(3), []])
    expect(() => add(event)).toThrow("An event of a stream must be an object")
})

test("a function that makes results takes what `toResult` of @sessions/tool-calls gets", async () => {
  for (const name of ["toolResult", "aiSdkResult"])
    expect(await failureOf(name, [call, "x", { isError: false, answer: { id: "e" } }])).toBeUndefined()
})

test("a keeper, and the second arguments", async () => {
  const keep = main.keepAnswers(storage, session.id)
  await expect(keep.restore(undefined as never)).rejects.toMatchObject({ code: "invalid" })
  expect(() => keep.begin(undefined as never, () => [])).toThrow("begin takes an open session")
  expect(() => keep.begin(session, undefined as never)).toThrow("a function second")
  expect(await refusal("keepAnswers", [storage, session])).toContain("`session.id`")
  for (const name of ["toolResult", "aiSdkResult", "hostedResult"])
    expect(await refusal(name, [call, promise])).toContain("the output of ls, not a promise; await it first")
  expect(await refusal("hostedResult", [call, "text"])).toContain("the fields of the output's item")
  expect(() => new rules.CallIds(FORM as never).ofCall(5 as never)).toThrow("ofCall takes the id of a call, not 5.")
})
