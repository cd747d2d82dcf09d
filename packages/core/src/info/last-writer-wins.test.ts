import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { HEADER } from "../../test/logs.ts"
import { holds, holdsAsync } from "../../test/property.ts"
import type { Entry } from "../format/entry.ts"
import { EntryLog } from "../log/entry-log.ts"
import { labelsOf } from "../log/nodes.ts"
import { createSessions } from "../session/repository.ts"
import { migrateLines } from "../transfer/older/migrate.ts"
import { sessionTree } from "../transfer/index.ts"
import { projectWhole, toSessionInfo } from "./projection.ts"

const HEAD = { next: 1, log: "l", bytes: 0, updatedAt: 0 }

const payload = fc.oneof(
  fc.record({
    type: fc.constant("title_change"),
    title: fc.constantFrom("a", "b", "c", "", null, 5),
    source: fc.constantFrom("user", "auto"),
  }),
  fc.record({
    type: fc.constant("metadata"),
    key: fc.constantFrom("cwd", "k", "__proto__"),
    value: fc.constantFrom("/a", "/b", 1, null),
  }),
  fc.record({
    type: fc.constant("label"),
    targetId: fc.constantFrom("m1", "m2"),
    label: fc.constantFrom("x", "y", "", undefined),
  }),
)
const time = fc.constantFrom(
  "2026-01-31T09:30:00.000Z",
  "2026-01-31T09:30:00.001Z",
  "2026-01-31T09:30:00",
  "2026-01-31T10:30:00+01:00",
  "2026-02-01T09:30:00.000Z",
  "no time",
)
/** Annotations in two orders. */
const twoOrders = fc
  .array(fc.tuple(payload, time), { maxLength: 12 })
  .map((all) =>
    all.map(([fields, timestamp], n) => ({ ...fields, id: `a${n}`, parentId: "m2", seq: 0, timestamp }) as Entry),
  )
  .chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })))

function shown(annotations: readonly Entry[]): unknown {
  const messages: readonly Entry[] = ["m1", "m2"].map((id) => ({
    type: "message",
    id,
    parentId: null,
    seq: 0,
    timestamp: "",
    message: { role: "user", content: [] },
  }))
  const entries = [...messages, ...annotations]
  const header = { ...HEADER, title: "from the header", cwd: "/header" }
  const { title, titleSource, metadata, cwd } = toSessionInfo(
    "s",
    projectWhole({ header, log: EntryLog.of([undefined, ...entries]) }, "l"),
    HEAD,
  )
  const labels = [...labelsOf(EntryLog.of([undefined, ...entries]))].sort(([a], [b]) => a - b)
  return { title, titleSource, metadata, cwd, labels }
}

test("the same titles, labels and metadata show the same in whatever order their lines are", () => {
  holds(
    fc.property(twoOrders, ([one, other]) => {
      expect(shown(other)).toEqual(shown(one))
    }),
    400,
  )
})

test("annotations of one writer whose clock goes forward are those of the last line", () => {
  const lines = fc.array(payload, { maxLength: 12 })
  holds(
    fc.property(lines, (all) => {
      const at = (n: number): string => new Date(Date.UTC(2026, 0, 31) + n).toISOString()
      const entries = all.map(
        (fields, n) => ({ ...fields, id: `a${99 - n}`, parentId: null, seq: 0, timestamp: at(n) }) as Entry,
      )
      const { metadata } = shown(entries) as { metadata: Record<string, unknown> }
      const set = entries.filter(({ type }) => type === "metadata").map(({ key, value }) => [key, value])
      expect(metadata).toEqual(Object.fromEntries(set))
    }),
    300,
  )
})

test("a title, a metadata value and a label show at once where they were set, whatever the clocks of the writers", async () => {
  const clock = fc.integer({ min: 0, max: 20 })
  const step = fc.tuple(fc.constantFrom(0, 1), fc.constantFrom("title", "metadata", "label"), clock, fc.boolean())
  await holdsAsync(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      let now = 0
      const location = createMemoryLocation()
      const open = () =>
        createSessions({ storage: createMemoryStorage({ location }), now: () => Date.UTC(2026, 0, 31) + now })
      const writers = [open(), open()]
      const made = await writers[0]?.create({ id: "s" })
      const { ids } = (await made?.append({ type: "message", message: { role: "user", content: "hi" } })) ?? { ids: [] }
      await made?.close()
      for (const [n, [writer, kind, at, ownTime]] of steps.entries()) {
        now = at
        const session = await (writers[writer] as (typeof writers)[number]).open("s")
        const timestamp = ownTime ? { timestamp: "2026-01-01T00:00:00Z" } : {}
        const value = `value ${n}`
        if (kind === "title") await session.append({ type: "title_change", title: value, source: "user", ...timestamp })
        else if (kind === "metadata") await session.append({ type: "metadata", key: "k", value, ...timestamp })
        else await session.append({ type: "label", targetId: ids[0] as string, label: value, ...timestamp })
        const { title, metadata } = await session.info()
        const label = (await sessionTree(session)).roots[0]?.label
        expect({ title, metadata: metadata["k"], label }[kind]).toBe(value)
        await session.close()
        expect((await open().info("s")).title).toBe(title)
      }
    }),
    16,
  )
})

test("a migrated log shows the last title of its source, whatever the clocks of its writers", () => {
  const title = fc.record({
    type: fc.constant("title_change"),
    title: fc.constantFrom("a", "b", null),
    source: fc.constantFrom("user", "auto"),
    timestamp: time,
  })
  holds(
    fc.property(fc.array(title, { maxLength: 8 }), (all) => {
      const records = all.map((fields, n) => ({ ...fields, id: `t${n}`, parentId: n === 0 ? null : `t${n - 1}` }))
      const header = { type: "session", version: 3, id: "old", timestamp: "2026-01-31T09:30:00.000Z", cwd: "/" }
      const migrated = migrateLines([header, ...records].map((record) => JSON.stringify(record)))
      const log = EntryLog.of([undefined, ...(migrated.records as readonly Entry[])])
      const info = toSessionInfo("s", projectWhole({ header: migrated.header, log }, "l"), HEAD)
      const cleared = all.findLastIndex(({ title, source }) => source === "user" && title === null)
      const since = all.slice(cleared + 1)
      const last = (source: string) => since.findLast((one) => one.source === source)?.title ?? undefined
      expect(info.title).toBe(last("user") ?? last("auto"))
    }),
    200,
  )
})
