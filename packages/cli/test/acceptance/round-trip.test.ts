import type { ContentBlock } from "@sessions/core"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { TIME, chain, header, jsonl, message, textsOf } from "./logs.ts"
import { createWorkspace, type Workspace } from "./workspace.ts"

const raw = (id: string, parentId: string | null, seq: number, rest: string): string =>
  `{"type":"custom","id":"${id}","parentId":${parentId === null ? "null" : `"${parentId}"`},"seq":${seq},"timestamp":"${TIME}",${rest}}`

/** Lines that parsing and serializing would change. */
const FRAGILE: Readonly<Record<string, string>> = {
  "numbers beyond doubles": raw(
    "e1",
    null,
    1,
    '"customType":"x","data":{"big":123456789012345678901234567890,"huge":1e400,"tiny":-0.0,"e":1E+2,"f":1.0}',
  ),
  "property names of Object.prototype": raw(
    "e1",
    null,
    1,
    '"customType":"x","data":{"__proto__":{"polluted":true},"constructor":1,"toString":2},"__proto__":{"polluted":true}',
  ),
  "a duplicate key": raw("e1", null, 1, '"customType":"x","data":1,"data":2'),
  "unknown fields and white space": ` { "type" : "custom" , "id":"e1","parentId":null,"seq":1,"timestamp":"${TIME}", "customType":"x","x-y":[ ] }  `,
  "unnecessary escapes": raw("e1", null, 1, '"customType":"\\u0061\\/\\u2028\\ud83d\\ude00"'),
  "unescaped line separators": raw("e1", null, 1, '"customType":"\u2028\u2029\u0085"'),
  "an unknown entry type": `{"type":"tomorrow","id":"e1","parentId":null,"seq":1,"timestamp":"${TIME}","payload":{"deep":[[[1]]]}}`,
  "a message with unknown blocks": message("e1", null, 1, "x", {
    message: { role: "user", content: [{ type: "video", url: "u", n: 1e21 }], "": null },
  }),
  "keys in another order": `{"timestamp":"${TIME}","seq":1,"parentId":null,"id":"e1","customType":"x","type":"custom"}`,
  "integer keys": raw("e1", null, 1, '"customType":"x","data":{"b":1,"10":2,"9":3,"a":4}'),
  "deep nesting": raw("e1", null, 1, `"customType":"x","data":${"[".repeat(199)}${"]".repeat(199)}`),
  "a line that is not JSON": "{{{ not json",
  "a line that is a JSON array": '[{"type":"message"}]',
  "streaming fields": message("e1", null, 1, "x", { data: { partialJson: "keep" } }),
}

async function exportAndImport(workspace: Workspace, from: string, to: string): Promise<void> {
  const { exit, stdout } = await workspace.cli("export", from, "--out", `${from}-${to}.jsonl`)
  expect(exit, stdout).toBe(0)
  const imported = await workspace.cli("import", `${from}-${to}.jsonl`, "--id", to)
  expect(imported.exit, imported.stderr).toBe(0)
}

const renamed = (log: Buffer, from: string, to: string): string =>
  log.toString().replace(`"id":"${from}"`, `"id":"${to}"`)

test.each(Object.keys(FRAGILE))("%s: export, import and copy keep the bytes", async (name) => {
  const workspace = createWorkspace()
  const content = jsonl(header("one", { "x-unknown": { n: 1 } }), FRAGILE[name] ?? "", message("m2", "e1", 2, "after"))
  workspace.writeLog("one", { from: 0, content })
  expect((await workspace.cli("export", "one")).stdout).toBe(content)
  await exportAndImport(workspace, "one", "two")
  expect(workspace.log("two").toString()).toBe(renamed(workspace.log("one"), "one", "two"))
  await exportAndImport(workspace, "two", "three")
  expect(workspace.log("three").toString()).toBe(renamed(workspace.log("one"), "one", "three"))
  expect((await workspace.cli("copy", "one", "--to", "./copies")).exit).toBe(0)
  expect((await workspace.cli("export", "one", "--store", "./copies")).stdout).toBe(content)
  // An append changes no existing line.
  await workspace.cli("rename", "one", "new title")
  expect(workspace.log("one").toString().startsWith(content)).toBe(true)
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
})

test.each(Object.keys(FRAGILE))("%s: a fork keeps the line", async (name) => {
  const workspace = createWorkspace()
  workspace.writeLog("one", {
    from: 0,
    content: jsonl(header("one"), FRAGILE[name] ?? "", message("m2", "e1", 2, "after")),
  })
  const forked = await workspace.cli("fork", "one", "--id", "branch")
  expect(forked.exit, forked.stderr).toBe(0)
  const [, line = ""] = workspace.log("branch").toString().split("\n")
  const original = FRAGILE[name] ?? ""
  const isEntry = original.includes('"e1"')
  // A line with its keys in another order is serialized again, because its seq may change.
  const isInOrder = /^\{"type":"[^"]*","id":"e1"/.test(original)
  expect(line === original || !isInOrder).toBe(true)
  expect(isEntry ? JSON.parse(line) : undefined).toEqual(isEntry ? JSON.parse(original) : undefined)
})

test("a header keeps a number beyond a double, also if the log is imported in several batches", async () => {
  const workspace = createWorkspace()
  const first = header("one").replace('"cwd"', '"n":1e400,"cwd"')
  workspace.writeLog("one", { from: 0, content: jsonl(first, ...chain(40, () => "x".repeat(100_000))) })
  await exportAndImport(workspace, "one", "two")
  const [stored = ""] = workspace.log("two").toString().split("\n", 1)
  expect(stored).toContain('"n":1e400')
  expect(stored.replace(/,"origin":\{[^}]*\}/, "")).toBe(first.replace('"one"', '"two"'))
})

test("a header keeps unknown fields, the position of its id and its white space", async () => {
  const workspace = createWorkspace()
  const first =
    '{ "type":"session", "other":{"id":"one"}, "format":"@sessions","version":4,"id" : "one","timestamp":"2026-01-02T03:04:05.000Z","n":1e400,"cwd":"/p" }'
  workspace.writeLog("one", { from: 0, content: jsonl(first, ...chain(2)) })
  await exportAndImport(workspace, "one", "two")
  expect(workspace.log("two").toString().split("\n")[0]).toBe(first.replace('"id" : "one"', '"id" : "two"'))
})

test("large content is exported as blobs or in place, and imported again", async () => {
  const workspace = createWorkspace()
  const sessions = workspace.open()
  const session = await sessions.create({ id: "one" })
  const image = Buffer.from(Array.from({ length: 3000 }, (_, i) => (i * 31) % 256)).toString("base64")
  const content: ContentBlock[] = [
    { type: "text", text: "é\u2028".repeat(300_000) },
    { type: "image", data: image, mimeType: "image/png" },
    { type: "text", text: `blob:sha256:${"ab".repeat(32)}` },
    { type: "image", data: `${image}!`, mimeType: "not base64" },
    { type: "text", text: `${"x".repeat(600_000)}\ud800` },
  ]
  await session.append({ type: "message", message: { role: "user", content } })
  await session.close()
  const contentOf = async (store: string, id: string): Promise<unknown> => {
    const { stdout } = await workspace.cli("context", id, "--json", "--store", store)
    return (JSON.parse(stdout) as { messages: { message: { content: unknown } }[] }).messages[0]?.message.content
  }
  const isWhole = async (store: string, id: string): Promise<boolean> =>
    JSON.stringify(await contentOf(store, id)) === JSON.stringify(content)
  expect(await isWhole("./.sessions", "one")).toBe(true)
  await workspace.cli("export", "one", "--out", "with-blobs.jsonl")
  await workspace.cli("export", "one", "--self-contained", "--out", "alone.jsonl")
  expect((await workspace.cli("import", "with-blobs.jsonl", "--id", "a", "--store", "./a")).exit).toBe(0)
  expect((await workspace.cli("import", "alone.jsonl", "--id", "b", "--store", "./b")).exit).toBe(0)
  expect(await isWhole("./a", "a")).toBe(true)
  expect(await isWhole("./b", "b")).toBe(true)
  for (const [store, id] of [
    ["./a", "a"],
    ["./b", "b"],
  ] as const)
    expect((await workspace.cli("verify", id, "--store", store)).exit).toBe(0)
  const a = (await workspace.cli("export", "a", "--store", "./a")).stdout.replace('"id":"a"', '"id":"one"')
  expect(a === workspace.log("one").toString()).toBe(true)
})

test("an imported text that names the blob of another session does not read that blob", async () => {
  const workspace = createWorkspace()
  const sessions = workspace.open()
  const secret = await sessions.create({ id: "secret" })
  await secret.append({ type: "message", message: { role: "user", content: "s3cret ".repeat(100_000) } })
  await secret.close()
  const stored = workspace.log("secret").toString()
  const hash = /sha256:([0-9a-f]{64})/.exec(stored)?.[1] ?? ""
  const claim = message("m1", null, 1, `blob:sha256:${hash}`)
  workspace.file("claim.jsonl", jsonl(header("claim"), claim))
  await workspace.cli("import", "claim.jsonl", "--id", "claim")
  const { stdout } = await workspace.cli("context", "claim", "--json")
  expect(textsOf((JSON.parse(stdout) as { messages: never[] }).messages)).toEqual([`blob:sha256:${hash}`])
})

const fixtures = fileURLToPath(new URL("../../../formats/test/fixtures/", import.meta.url))
const OLDER = [
  "pi/v1.jsonl",
  "pi/v3.jsonl",
  "pi/branch-and-compaction.jsonl",
  "pi/v2.jsonl",
  "oh-my-pi/title-slot.jsonl",
]

test.each(OLDER)("%s: import, export, import, export gives the same log", async (name) => {
  const workspace = createWorkspace()
  expect((await workspace.cli("import", join(fixtures, name), "--id", "one")).exit).toBe(0)
  await exportAndImport(workspace, "one", "two")
  expect(workspace.log("two").toString()).toBe(renamed(workspace.log("one"), "one", "two"))
  expect((await workspace.cli("verify", "--all")).stdout).toContain("2 sessions, 0 damaged")
  // A second import gives the same log, including the ids.
  expect((await workspace.cli("import", join(fixtures, name), "--id", "again")).exit).toBe(0)
  expect(workspace.log("again").toString()).toBe(renamed(workspace.log("one"), "one", "again"))
})

test.each(OLDER)(
  "%s: an older log in a store has the same context as its import, and migrate keeps a backup",
  async (name) => {
    const workspace = createWorkspace()
    const { readFileSync } = await import("node:fs")
    const content = readFileSync(join(fixtures, name))
    workspace.writeLog("old", { from: 0, content })
    await workspace.cli("import", join(fixtures, name), "--id", "imported")
    const context = async (id: string): Promise<unknown> => {
      const { messages, model } = JSON.parse(
        (await workspace.cli("context", id, "--json", "--repair", "none")).stdout,
      ) as Record<string, unknown>
      return { messages, model }
    }
    const expected = await context("imported")
    expect(await context("old")).toEqual(expected)
    expect(workspace.log("old").equals(content)).toBe(true)
    expect((await workspace.cli("migrate", "old")).exit).toBe(0)
    expect(await context("old")).toEqual(expected)
    expect((await workspace.cli("export", "old", "--backup")).stdout).toBe(content.toString())
    expect((await workspace.cli("migrate", "old")).stdout).toContain("nothing to do")
    expect((await workspace.cli("verify", "old")).exit).toBe(0)
  },
)
