import { existsSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { TIME, chain, header, jsonl, message, textsOf } from "./logs.ts"
import type { Place } from "./workspace.ts"
import { makePlace } from "./workspace.ts"

const raw = (id: string, parentId: string | null, seq: number, rest: string): string =>
  `{"type":"custom","id":"${id}","parentId":${parentId === null ? "null" : `"${parentId}"`},"seq":${seq},"timestamp":"${TIME}",${rest}}`

/** Lines that a program which parses and writes again would change. */
const FRAGILE: Readonly<Record<string, string>> = {
  "numbers beyond doubles": raw(
    "e1",
    null,
    1,
    '"customType":"x","data":{"big":123456789012345678901234567890,"huge":1e400,"tiny":-0.0,"e":1E+2,"f":1.0}',
  ),
  "names of prototypes": raw(
    "e1",
    null,
    1,
    '"customType":"x","data":{"__proto__":{"polluted":true},"constructor":1,"toString":2},"__proto__":{"polluted":true}',
  ),
  "a name twice": raw("e1", null, 1, '"customType":"x","data":1,"data":2'),
  "unknown fields and white space": ` { "type" : "custom" , "id":"e1","parentId":null,"seq":1,"timestamp":"${TIME}", "customType":"x","x-y":[ ] }  `,
  "escapes that need none": raw("e1", null, 1, '"customType":"\\u0061\\/\\u2028\\ud83d\\ude00"'),
  "line separators as they are": raw("e1", null, 1, '"customType":"\u2028\u2029\u0085"'),
  "a type nobody knows": `{"type":"tomorrow","id":"e1","parentId":null,"seq":1,"timestamp":"${TIME}","payload":{"deep":[[[1]]]}}`,
  "a message with unknown blocks": message("e1", null, 1, "x", {
    message: { role: "user", content: [{ type: "video", url: "u", n: 1e21 }], "": null },
  }),
  "keys in another order": `{"timestamp":"${TIME}","seq":1,"parentId":null,"id":"e1","customType":"x","type":"custom"}`,
  "integer keys": raw("e1", null, 1, '"customType":"x","data":{"b":1,"10":2,"9":3,"a":4}'),
  "deep nesting": raw("e1", null, 1, `"customType":"x","data":${"[".repeat(3000)}${"]".repeat(3000)}`),
  "a line that is no JSON": "{{{ not json",
  "a line that is a JSON array": '[{"type":"message"}]',
  "fields of a stream": message("e1", null, 1, "x", { data: { partialJson: "keep" } }),
}

async function thereAndBack(place: Place, from: string, to: string): Promise<void> {
  const { exit, stdout } = await place.cli("export", from, "--out", `${from}-${to}.jsonl`)
  expect(exit, stdout).toBe(0)
  const imported = await place.cli("import", `${from}-${to}.jsonl`, "--id", to)
  expect(imported.exit, imported.stderr).toBe(0)
}

const renamed = (log: Buffer, from: string, to: string): string =>
  log.toString().replace(`"id":"${from}"`, `"id":"${to}"`)

test.each(Object.keys(FRAGILE))("%s go through export, import and copy byte for byte", async (name) => {
  const place = makePlace()
  const content = jsonl(header("one", { "x-unknown": { n: 1 } }), FRAGILE[name] ?? "", message("m2", "e1", 2, "after"))
  place.plant("one", { from: 0, content })
  expect((await place.cli("export", "one")).stdout).toBe(content)
  await thereAndBack(place, "one", "two")
  expect(place.log("two").toString()).toBe(renamed(place.log("one"), "one", "two"))
  await thereAndBack(place, "two", "three")
  expect(place.log("three").toString()).toBe(renamed(place.log("one"), "one", "three"))
  expect((await place.cli("copy", "one", "--to", "./copies")).exit).toBe(0)
  expect((await place.cli("export", "one", "--store", "./copies")).stdout).toBe(content)
  // An append changes nothing of what was there.
  await place.cli("rename", "one", "new title")
  expect(place.log("one").toString().startsWith(content)).toBe(true)
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
})

test.each(Object.keys(FRAGILE))("a fork takes %s along", async (name) => {
  const place = makePlace()
  place.plant("one", { from: 0, content: jsonl(header("one"), FRAGILE[name] ?? "", message("m2", "e1", 2, "after")) })
  const forked = await place.cli("fork", "one", "--id", "branch")
  expect(forked.exit, forked.stderr).toBe(0)
  const [, line = ""] = place.log("branch").toString().split("\n")
  const original = FRAGILE[name] ?? ""
  const isEntry = original.includes('"e1"')
  // A line whose keys are not in our order is written anew, since its seq may be another one.
  const isInOrder = /^\{"type":"[^"]*","id":"e1"/.test(original)
  expect(line === original || !isInOrder).toBe(true)
  expect(isEntry ? JSON.parse(line) : undefined).toEqual(isEntry ? JSON.parse(original) : undefined)
})

test("a header keeps a number that no double holds also where the log goes in several batches", async () => {
  const place = makePlace()
  const first = header("one").replace('"cwd"', '"n":1e400,"cwd"')
  place.plant("one", { from: 0, content: jsonl(first, ...chain(40, () => "x".repeat(100_000))) })
  await thereAndBack(place, "one", "two")
  const [stored = ""] = place.log("two").toString().split("\n", 1)
  expect(stored).toContain('"n":1e400')
  expect(stored.replace(/,"origin":\{[^}]*\}/, "")).toBe(first.replace('"one"', '"two"'))
})

test("a header keeps what no one knows, the position of its id and its white space", async () => {
  const place = makePlace()
  const first =
    '{ "type":"session", "other":{"id":"one"}, "format":"@sessions","version":4,"id" : "one","timestamp":"2026-01-02T03:04:05.000Z","n":1e400,"cwd":"/p" }'
  place.plant("one", { from: 0, content: jsonl(first, ...chain(2)) })
  await thereAndBack(place, "one", "two")
  expect(place.log("two").toString().split("\n")[0]).toBe(first.replace('"id" : "one"', '"id" : "two"'))
})

test("large contents go out with their blobs or in their places, and come back", async () => {
  const place = makePlace()
  const sessions = place.open()
  const session = await sessions.create({ id: "one" })
  const image = Buffer.from(Array.from({ length: 3000 }, (_, i) => (i * 31) % 256)).toString("base64")
  const content = [
    { type: "text", text: "é\u2028".repeat(300_000) },
    { type: "image", data: image, mimeType: "image/png" },
    { type: "text", text: `blob:sha256:${"ab".repeat(32)}` },
    { type: "image", data: `${image}!`, mimeType: "not base64" },
    { type: "text", text: `${"x".repeat(600_000)}\ud800` },
  ]
  await session.append({ type: "message", message: { role: "user", content } })
  await session.close()
  const contentOf = async (store: string, id: string): Promise<unknown> => {
    const { stdout } = await place.cli("context", id, "--json", "--store", store)
    return (JSON.parse(stdout) as { messages: { message: { content: unknown } }[] }).messages[0]?.message.content
  }
  const isWhole = async (store: string, id: string): Promise<boolean> =>
    JSON.stringify(await contentOf(store, id)) === JSON.stringify(content)
  expect(await isWhole("./.sessions", "one")).toBe(true)
  await place.cli("export", "one", "--out", "with-blobs.jsonl")
  await place.cli("export", "one", "--self-contained", "--out", "alone.jsonl")
  expect((await place.cli("import", "with-blobs.jsonl", "--id", "a", "--store", "./a")).exit).toBe(0)
  expect((await place.cli("import", "alone.jsonl", "--id", "b", "--store", "./b")).exit).toBe(0)
  expect(await isWhole("./a", "a")).toBe(true)
  expect(await isWhole("./b", "b")).toBe(true)
  for (const [store, id] of [
    ["./a", "a"],
    ["./b", "b"],
  ] as const)
    expect((await place.cli("verify", id, "--store", store)).exit).toBe(0)
  const a = (await place.cli("export", "a", "--store", "./a")).stdout.replace('"id":"a"', '"id":"one"')
  expect(a === place.log("one").toString()).toBe(true)
})

test("a reference to a blob that the file's writer wished for is not filled from another's blobs", async () => {
  const place = makePlace()
  const sessions = place.open()
  const secret = await sessions.create({ id: "secret" })
  await secret.append({ type: "message", message: { role: "user", content: "s3cret ".repeat(100_000) } })
  await secret.close()
  const stored = place.log("secret").toString()
  const hash = /sha256:([0-9a-f]{64})/.exec(stored)?.[1] ?? ""
  const claim = message("m1", null, 1, `blob:sha256:${hash}`)
  place.file("claim.jsonl", jsonl(header("claim"), claim))
  await place.cli("import", "claim.jsonl", "--id", "claim")
  const { stdout } = await place.cli("context", "claim", "--json")
  expect(textsOf((JSON.parse(stdout) as { messages: never[] }).messages)).toEqual([`blob:sha256:${hash}`])
})

const fixtures = fileURLToPath(new URL("../../../../../shared/fixtures/", import.meta.url))
const absent = existsSync(fixtures) ? "" : " (skipped: there are no session files of other agents here)"
const OLDER = [
  "pi/v1-two-compactions.jsonl",
  "pi/01-basic-v3.jsonl",
  "pi/02-branch-compaction.jsonl",
  "pi/05-v2-compat.jsonl",
  "oh-my-pi/title-slot-v3.jsonl",
]

test.skipIf(absent !== "").each(OLDER)(
  `%s: import, export, import, export gives the same log${absent}`,
  async (name) => {
    const place = makePlace()
    expect((await place.cli("import", join(fixtures, name), "--id", "one")).exit).toBe(0)
    await thereAndBack(place, "one", "two")
    expect(place.log("two").toString()).toBe(renamed(place.log("one"), "one", "two"))
    expect((await place.cli("verify", "--all")).stdout).toContain("2 sessions, none damaged")
    // Imported twice: the same log, ids and all.
    expect((await place.cli("import", join(fixtures, name), "--id", "again")).exit).toBe(0)
    expect(place.log("again").toString()).toBe(renamed(place.log("one"), "one", "again"))
  },
)

test.skipIf(absent !== "").each(OLDER)(
  `%s: the older log in a store reads as its import does, and its migration keeps a backup${absent}`,
  async (name) => {
    const place = makePlace()
    const { readFileSync } = await import("node:fs")
    const content = readFileSync(join(fixtures, name))
    place.plant("old", { from: 0, content })
    await place.cli("import", join(fixtures, name), "--id", "imported")
    const context = async (id: string): Promise<unknown> => {
      const { messages, model } = JSON.parse(
        (await place.cli("context", id, "--json", "--repair", "none")).stdout,
      ) as Record<string, unknown>
      return { messages, model }
    }
    const expected = await context("imported")
    expect(await context("old")).toEqual(expected)
    expect(place.log("old").equals(content)).toBe(true)
    expect((await place.cli("migrate", "old")).exit).toBe(0)
    expect(await context("old")).toEqual(expected)
    expect((await place.cli("export", "old", "--backup")).stdout).toBe(content.toString())
    expect((await place.cli("migrate", "old")).stdout).toContain("nothing to do")
    expect((await place.cli("verify", "old")).exit).toBe(0)
  },
)
