/**
 * Runs what the pages say about erasing on stores whose bytes can be read, with the secret in a line and in a blob, and looks for it in every
 * file of the store.
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createClaudeStore } from "@sessions/claude-agent"
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { afterAll, expect, test } from "vitest"
import { FLAGS } from "../../.config/program.ts"
import { newFolder } from "./here.ts"

const SECRET = "hunter2"
const { folder, remove } = newFolder()
afterAll(remove)

function blockBelow(path: string, text: RegExp): string {
  const page = readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")
  const [, block] = /^```ts\n([^]*?)^```$/m.exec(page.slice(page.search(text))) ?? []
  if (block === undefined) throw new Error(`${path} has no block below ${text}.`)
  return block
}

/** Replaces one text of a page; fails if the page does not have it. */
function put(code: string, from: string, to: string): string {
  expect(code).toContain(from)
  return code.replace(from, to)
}

function run(name: string, code: string): string[] {
  const cwd = join(folder, name)
  mkdirSync(cwd)
  writeFileSync(join(cwd, "main.ts"), code)
  const { status, stdout, stderr } = spawnSync(process.execPath, [...FLAGS, "main.ts"], { cwd, encoding: "utf8" })
  if (status !== 0) throw new Error(stderr)
  return stdout.trim().split("\n")
}

/** The files below a folder of this test that have the secret. */
function filesWithSecret(name: string): string[] {
  return readdirSync(join(folder, name), { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile() && file.name !== "main.ts")
    .map((file) => join(file.parentPath, file.name))
    .filter((path) => readFileSync(path).includes(SECRET))
}

/** From here on the program has the time of three hours later. */
const LATER = "const { now } = Date; Date.now = () => now() + 3 * 60 * 60 * 1000\n"
const STORES = {
  files: ['{ createFileStorage } from "@sessions/fs"', 'createFileStorage({ root: "./store" })'],
  sqlite: ['{ createSqliteStorage } from "@sessions/sqlite"', 'createSqliteStorage({ path: "./store.db" })'],
} as const
const TEXTS = { line: '"the key is hunter2"', blob: '"the key is hunter2 ".repeat(60_000)' }

/** "Remove a secret that was stored", with another store and text, and the lines before and behind the deletion. */
function recipe(store: keyof typeof STORES, text: string, before: string, behind: string): string {
  const [from, create] = STORES[store]
  let code = blockBelow("docs/recipes.md", /^## Remove a secret that was stored/m)
  code = put(code, '{ createMemoryStorage } from "@sessions/memory"', from)
  code = put(code, "createMemoryStorage()", create)
  code = put(code, TEXTS.line, text)
  code = put(code, "const { purged } =", `${before}let { purged } =`)
  return put(code, /console\.log\(.*/.exec(code)?.[0] ?? "", `console.log(purged)\n${behind}`)
}

const STORE_NAMES = Object.keys(STORES) as (keyof typeof STORES)[]
// Files are read by the program itself, so that the storage is open still.
const LOOK = `import { readdirSync, readFileSync, statSync } from "node:fs"
for (const path of readdirSync(".", { recursive: true }) as string[])
  if (path !== "main.ts" && statSync(path).isFile() && readFileSync(path).includes("${SECRET}")) console.log(path)
`

test.each(STORE_NAMES)("after the recipe, no byte of a secret in a blob and a line is in %s", (store) => {
  const both = `[{ type: "text", text: ${TEXTS.blob} }, { type: "text", text: ${TEXTS.line} }]`
  expect(run(store, recipe(store, both, LATER, LOOK))).toEqual(["true"])
  expect(filesWithSecret(store)).toEqual([])
})

test("with a blob of the last two hours the recipe says false, and both ways that the page names end it", () => {
  const again = `${LATER}console.log((await deleteWithBlobs(redacting, old.id)).purged)\n${LOOK}`
  expect(run("again", recipe("sqlite", TEXTS.blob, "", again))).toEqual(["false", "true"])
  const page = readFileSync(new URL("../../docs/recipes.md", import.meta.url), "utf8")
  const alone = ["await collectBlobs(storage, { olderThan: 0 })", "await collect(sessions)"]
  for (const call of alone) expect(page).toContain(`\`${call}\``)
  const code = `const { collect, collectBlobs } = await import("@sessions/core/transfer")\nconst sessions = redacting\n${alone.join("\n")}\n${LOOK}`
  expect(run("alone", recipe("sqlite", TEXTS.blob, "", code))).toEqual(["false"])
})

test("the FAQ names the call of the recipe", () => {
  const answer = /^## Can I delete old sessions\?\n([^]*?)^## /m.exec(
    readFileSync(new URL("../../docs/faq.md", import.meta.url), "utf8"),
  )?.[1]
  expect(answer).toContain("`deleteWithBlobs(sessions, id)`")
})

test("after the block of docs/claude-agent.md no byte of a transcript is in the store", async () => {
  const name = "claude"
  mkdirSync(join(folder, name))
  const root = join(folder, name, ".sessions")
  const code = blockBelow("docs/claude-agent.md", /^The store deletes nothing by itself/m)
  const sessionId = /const sessionId = "(.*?)"/.exec(code)?.[1] ?? ""
  const store = createClaudeStore({ sessions: createSessions({ storage: createFileStorage({ root }) }) })
  const line = (uuid: string, text: string): { type: string; uuid: string; message: object } => ({
    type: "user",
    uuid,
    message: { role: "user", content: text },
  })
  for (const subpath of [undefined, "subagents/agent-1"])
    await store.append({ projectKey: "p", sessionId, ...(subpath !== undefined && { subpath }) }, [
      line(`short-${subpath}`, SECRET),
      line(`long-${subpath}`, `${SECRET} `.repeat(100_000)),
    ])
  await store.append({ projectKey: "p", sessionId: "another" }, [line("x", "stays")])
  await store.close()
  expect(filesWithSecret(name).length).toBeGreaterThan(2)
  const cwd = join(folder, name)
  writeFileSync(join(cwd, "main.ts"), `${LATER}${code}\nconsole.log(left)\n`)
  const { stdout, stderr } = spawnSync(process.execPath, [...FLAGS, "main.ts"], { cwd, encoding: "utf8" })
  expect([stderr, stdout.trim()]).toEqual(["", "[]"])
  expect(filesWithSecret(name)).toEqual([])
  expect((await createSessions({ storage: createFileStorage({ root }) }).list()).sessions.length).toBe(1)
})
