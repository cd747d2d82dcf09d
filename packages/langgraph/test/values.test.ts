/** Values of a state come back as LangGraph's `MemorySaver` gives them, or are refused by name. */
import { AIMessage } from "@langchain/core/messages"
import {
  type BaseCheckpointSaver,
  emptyCheckpoint,
  JsonPlusSerializer,
  MemorySaver,
  type SerializerProtocol,
  uuid6,
} from "@langchain/langgraph-checkpoint"
import { createSessions, type SessionError } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { SessionsSaver } from "@sessions/langgraph"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { runs } from "../../../.config/runs.ts"
import { oddValues, Unknown } from "./odd-values.ts"
import { META, put, startOf, valuesOf } from "./threads.ts"

const PLACES = ["channel", "write", "metadata"] as const
type Place = (typeof PLACES)[number]

/** What the serializer writes in place of a value. */
const NOT_WRITTEN = "[unable to serialize, circular reference is too complex to analyze]"
const CIRCULAR = "[Circular]"

test("a value comes back as MemorySaver gives it, and is refused where that loses it", async () => {
  await fc.assert(
    fc.asyncProperty(oddValues, fc.constantFrom(...PLACES), async (value, place) => {
      const expected = await stored(new MemorySaver(), value, place).catch(() => LOST)
      const given = stored(open(), value, place)
      if (value instanceof Uint8Array && place === "write") {
        // MemorySaver cannot read a write of bytes.
        expect(await given).toEqual(new Uint8Array(value))
      } else if (isLost(value, expected, place)) {
        const name = place === "metadata" ? "The metadata" : 'The value of the channel "v"'
        const error = (await given.then(unexpected, (reason: unknown) => reason)) as SessionError
        expect(error).toMatchObject({ name: "SessionError", code: "invalid" })
        expect(error.message).toMatch(`${name} cannot be stored: `)
        expect(error.message).toMatch(
          /: (?:it is a (?:function|symbol)|it could not be read again |(?:v|metadata).* (?:is|cannot be read))/u,
        )
      } else expect(await given).toStrictEqual(expected)
    }),
    { numRuns: runs(100) },
  )
})

test.each<readonly [why: string, value: unknown]>([
  ["v is a BigInt", 1n],
  ["v.items[1].price is a BigInt", { items: [1, { price: 2n }] }],
  ['v["a key"].get("n") is a BigInt', { "a key": new Map([["n", 2n]]) }],
  ["v.values()[1] is a BigInt", new Set([1, 2n])],
  ["v.keys()[0].id is a BigInt", new Map([[{ id: 1n }, 1]])],
  ["v[0].additional_kwargs.cost is a BigInt", [new AIMessage({ content: "", additional_kwargs: { cost: 1n } })]],
  ["v.list.up is v.list again, a cycle", { list: cycle() }],
  ['v.get("up") is v again, a cycle', mapCycle()],
  ["v.job cannot be read (no JSON)", { job: { toJSON: () => fail("no JSON") } }],
  [
    "v.job.part cannot be read (no part)",
    { job: Object.defineProperty({}, "part", { enumerable: true, get: () => fail("no part") }) },
  ],
  [
    "v.additional_kwargs.inner.additional_kwargs.list.up is v.additional_kwargs.inner.additional_kwargs.list again, a cycle",
    messageWith({ inner: messageWith({ list: cycle() }) }),
  ],
  ["it is a function", () => 1],
  ["it is a symbol", Symbol("s")],
])("the error names the part: %s", async (why, value) => {
  const saver = open()
  const root = await put(saver, startOf("t"), { v: "before" })
  const message = expect.stringContaining(`The value of the channel "v" cannot be stored: ${why}. `) as string
  await expect(put(saver, root, { v: value }, { version: 2 })).rejects.toMatchObject({ code: "invalid", message })
  await expect(saver.putWrites(root, [["v", value]], "task")).rejects.toMatchObject({ code: "invalid", message })
  expect(await valuesOf(saver, startOf("t"))).toEqual({ v: "before" })
  expect((await saver.getTuple(root))?.pendingWrites).toEqual([])
})

test("the error of a channel with an odd name, and of metadata, names them", async () => {
  const saver = open()
  const odd = {
    message: expect.stringContaining('channel "branch:to" cannot be stored: ["branch:to"].a is a BigInt') as string,
  }
  await expect(put(saver, startOf("t"), { "branch:to": { a: 1n } })).rejects.toMatchObject(odd)
  const metadata = { ...META, user: { id: 1n } }
  const message = expect.stringContaining("The metadata cannot be stored: metadata.user.id is a BigInt") as string
  await expect(saver.put(startOf("t"), emptyCheckpoint(), metadata, {})).rejects.toMatchObject({ message })
})

test("an object that could not be read again, of a class that LangChain does not know, is refused, also after others", async () => {
  const saver = open()
  const root = await put(saver, startOf("t"), { v: messageWith({}) })
  const refused = 'The value of the channel "v" cannot be stored: it could not be read again ('
  for (const v of [new Unknown({ a: 1 }), [messageWith({}), new Unknown({})]]) {
    await expect(put(saver, root, { v }, { version: 2 })).rejects.toThrow(refused)
  }
  expect(await valuesOf(saver, startOf("t"))).toEqual({ v: messageWith({}) })
})

test("a Buffer comes back as the object of its JSON, and other bytes as bytes", async () => {
  const saver = open()
  const values = { buffer: Buffer.from("hi"), bytes: new Uint8Array([1]), within: [Buffer.from("hi")] }
  const json = { type: "Buffer", data: [104, 105] }
  const config = await put(saver, startOf("t"), values)
  expect(await valuesOf(saver, config)).toEqual({ buffer: json, bytes: new Uint8Array([1]), within: [json] })
})

test("the texts that the serializer writes in place of values are stored as texts", async () => {
  const saver = open()
  const shared = { n: 1 }
  const values = { one: NOT_WRITTEN, two: [CIRCULAR, shared, shared], three: { [CIRCULAR]: CIRCULAR } }
  expect(await valuesOf(saver, await put(saver, startOf("t"), values))).toEqual(values)
})

test("a value that the serializer refuses is unchanged", async () => {
  const value: Record<string, unknown> = { self: undefined }
  value["self"] = value
  Object.defineProperty(value, "part", { enumerable: true, get: () => fail("no part") })
  const config = { configurable: { thread_id: "t", checkpoint_ns: "", checkpoint_id: uuid6(0) } }
  await expect(open().putWrites(config, [["v", value]], "task")).rejects.toThrow("v.self is v again")
  expect(value["self"]).toBe(value)
})

test("a serializer that encrypts is no reason to store a text about a value", async () => {
  const plain = new JsonPlusSerializer()
  const flip = (bytes: Uint8Array): Uint8Array => bytes.map((byte) => byte ^ 255)
  const serde: SerializerProtocol = {
    dumpsTyped: async (value) => {
      const [type, bytes] = await plain.dumpsTyped(value)
      return [`flipped ${type}`, flip(bytes)]
    },
    loadsTyped: (type, data) => plain.loadsTyped(type.slice("flipped ".length), flip(data as Uint8Array)),
  }
  const saver = open(serde)
  await expect(put(saver, startOf("t"), { v: { n: 1n } })).rejects.toThrow(
    'channel "v" cannot be stored: v.n is a BigInt',
  )
  await expect(put(saver, startOf("t"), { v: cycle() })).rejects.toThrow("v.up is v again")
  const values = { v: [NOT_WRITTEN, CIRCULAR, new Set([1])] }
  expect(await valuesOf(saver, await put(saver, startOf("t"), values))).toEqual(values)
})

test("a serializer that has a form for a value stores it, and its own error names the channel", async () => {
  const asText = (_: string, value: unknown): unknown => (typeof value === "bigint" ? { bigint: String(value) } : value)
  const asBigInt = (_: string, value: { bigint?: string }): unknown =>
    value?.bigint === undefined ? value : BigInt(value.bigint)
  const serde: SerializerProtocol = {
    dumpsTyped: async (value) => ["text", new TextEncoder().encode(JSON.stringify(value, asText))],
    loadsTyped: async (_, data) => JSON.parse(new TextDecoder().decode(data as Uint8Array), asBigInt) as unknown,
  }
  const saver = open(serde)
  const values = { v: { n: 1n } }
  expect(await valuesOf(saver, await put(saver, startOf("t"), values))).toEqual(values)
  const refused = 'The value of the channel "v" cannot be stored: the serializer refuses it ('
  await expect(put(saver, startOf("t"), { v: cycle() })).rejects.toThrow(refused)
})

const LOST = Symbol("lost")

/** Whether MemorySaver cannot read the value again, or gives a text about it, or nothing. */
function isLost(value: unknown, expected: unknown, place: Place): boolean {
  if (expected === LOST || expected === NOT_WRITTEN || includesCircular(expected)) return true
  return place === "channel" && (typeof value === "function" || typeof value === "symbol")
}

function includesCircular(value: unknown): boolean {
  if (value === CIRCULAR) return true
  if (value instanceof Map || value instanceof Set) return [...(value as Iterable<unknown>)].some(includesCircular)
  return typeof value === "object" && value !== null && Object.values(value).some(includesCircular)
}

async function stored(saver: BaseCheckpointSaver, value: unknown, place: Place): Promise<unknown> {
  const checkpoint = { ...emptyCheckpoint(), id: uuid6(0), channel_versions: { v: 1 } }
  const channel_values: Record<string, unknown> = place === "channel" ? { v: value } : {}
  const metadata = { ...META, ...(place === "metadata" && { v: value }) }
  const config = await saver.put(startOf("t"), { ...checkpoint, channel_values }, metadata, { v: 1 })
  if (place === "write") await saver.putWrites(config, [["v", value]], "task")
  const tuple = await saver.getTuple(config)
  if (place === "write") return tuple?.pendingWrites?.[0]?.[2]
  if (place === "metadata") return tuple?.metadata
  const found = tuple?.checkpoint as { channel_values?: object } | string | undefined
  return typeof found === "object" ? found.channel_values : found
}

function open(serde?: SerializerProtocol): SessionsSaver {
  const sessions = createSessions({ storage: createMemoryStorage() })
  return new SessionsSaver({ sessions, ...(serde !== undefined && { serde }) })
}

function cycle(): object {
  const value: Record<string, unknown> = {}
  value["up"] = value
  return value
}

function messageWith(additional_kwargs: Record<string, unknown>): AIMessage {
  return new AIMessage({ content: "", additional_kwargs })
}

function mapCycle(): object {
  const map = new Map<string, unknown>()
  return map.set("up", map)
}

function fail(message: string): never {
  throw new Error(message)
}

function unexpected(): never {
  throw new Error("It was stored.")
}
