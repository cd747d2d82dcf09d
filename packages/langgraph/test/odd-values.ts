/** Arbitrary values of a state: everything that a node may return, also what has no form in JSON. */
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages"
import { Serializable } from "@langchain/core/load/serializable"
import { Send } from "@langchain/langgraph"
import * as fc from "fast-check"

class Point {
  readonly x: unknown
  readonly norm = (): unknown => this.x
  constructor(x: unknown) {
    this.x = x
  }
  get double(): unknown {
    return this.x
  }
}

/** A class that LangChain writes and does not know when it reads. */
export class Unknown extends Serializable {
  override lc_serializable = true
  lc_namespace = ["an", "app"]
}

/** Values that JSON, or the serializer, has a form for. What comes back may be another value, as a text for a `Date`. */
const written = fc.oneof(
  fc.constantFrom<unknown>(undefined, null, Number.NaN, Number.POSITIVE_INFINITY, -0, "", "\ud800x", "a\u0000b\u2028"),
  fc.string({ unit: "grapheme" }),
  fc.double(),
  fc.date({ noInvalidDate: false }),
  fc.uint8Array({ maxLength: 5 }),
  fc.uint8Array({ maxLength: 5 }).map((bytes) => Buffer.from(bytes)),
  fc.float32Array({ maxLength: 3 }),
  fc.uint8Array({ maxLength: 3 }).map(({ buffer }) => buffer),
  fc
    .constantFrom<() => unknown>(
      () => /x/giu,
      () => Object.assign(new TypeError("failed"), { code: 1 }),
      () => new URL("http://a.b/c"),
      () => () => 1,
      () => Symbol("s"),
      () => Object(1) as unknown,
      () => new DataView(new ArrayBuffer(2)),
      () => Promise.resolve(1),
      () => new WeakMap(),
      () => new (class Tags extends Set<number> {})([1]),
      () => JSON.parse('{"__proto__":{"x":1},"constructor":2}') as unknown,
      () => ({ lc: 2, type: "undefined" }),
      () => ({ lc: 1, type: "not_implemented", id: ["x"] }),
      () => Object.assign(Object.create(null) as object, { bare: true }),
      () => Object.assign([1], { 2: 3 }),
    )
    .map((make) => make()),
)

/** Values for which the serializer writes a text about them, or which it refuses. */
const unwritten = fc
  .constantFrom<() => unknown>(
    () => 12n,
    () => new Unknown({ a: 1 }),
    () => Object(1n) as unknown,
    () => new BigInt64Array(1),
    () => ({
      toJSON: () => {
        throw new Error("no JSON")
      },
    }),
    () => ({
      get part() {
        throw new Error("no part")
      },
    }),
    () => cyclic({ a: 1 }),
    () => cyclic([1]),
    () => Object.freeze(cyclic({ a: Object.freeze([1]) })),
    () => {
      const map = new Map<string, unknown>()
      return map.set("self", map)
    },
    () => {
      const set = new Set<unknown>()
      return set.add(set)
    },
  )
  .map((make) => make())

function cyclic(value: object): object {
  return Object.assign(value, { 1: { up: value } })
}

const keys = fc.constantFrom("a", "b", "toString", "an odd\nkey", "1", "type", "value")

export const oddValues: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown; values: unknown[] }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    { weight: 12, arbitrary: written },
    { weight: 1, arbitrary: unwritten },
    { weight: 3, arbitrary: tie("values") },
    { weight: 3, arbitrary: fc.dictionary(keys, tie("value"), { maxKeys: 3 }) },
    { weight: 1, arbitrary: tie("values").map((values) => new Set(values)) },
    {
      weight: 1,
      arbitrary: fc
        .array(fc.tuple(fc.oneof(keys, tie("value")), tie("value")), { maxLength: 2 })
        .map((e) => new Map(e)),
    },
    { weight: 1, arbitrary: tie("value").map((x) => new Point(x)) },
    // The same object twice is no cycle.
    { weight: 1, arbitrary: tie("values").map((shared) => ({ one: shared, two: [shared] })) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.constantFrom(HumanMessage, AIMessage), tie("value"), fc.string({ unit: "grapheme" }))
        .map(([Message, part, content]) => new Message({ id: "m", content, additional_kwargs: { part } })),
    },
    {
      weight: 1,
      arbitrary: tie("value").map((artifact) => new ToolMessage({ tool_call_id: "c", content: "r", artifact })),
    },
    { weight: 1, arbitrary: tie("value").map((args) => Object.assign(new Send("node", null), { args })) },
  ),
  values: fc.array(tie("value"), { maxLength: 3 }),
})).value
