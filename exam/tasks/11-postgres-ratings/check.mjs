import { execFileSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { PGlite } from "@electric-sql/pglite"
import { createSessions } from "@sessions/core"
import { createPostgresStorage } from "@sessions/postgres"
import { assert, checkUndamaged, load, solutionFile, theSession } from "../../lib/check.mjs"

checkTypes()
const { openTenant } = await load("ratings.ts")
const db = new PGlite()
let [ada, bob] = [await openTenant(db, "ada"), await openTenant(db, "bob")]
await ada.say("chat", "user", "hello")
const first = await ada.say("chat", "assistant", "hi")
await ada.say("chat", "user", "again")
const second = await ada.say("chat", "assistant", "hi again")
await ada.rate("chat", second, 2)
await ada.rate("chat", first, 3, "fine")
await ada.rate("chat", second, 5, "better")
const other = await bob.say("chat", "user", "secret of bob")
await ada.close()
await bob.close()

ada = await openTenant(db, "ada")
bob = await openTenant(db, "bob")
const wanted = [
  { messageId: first, stars: 3, comment: "fine" },
  { messageId: second, stars: 5, comment: "better" },
]
assert.deepEqual(await ada.ratings("chat"), wanted, "the ratings")
assert.deepEqual(await bob.ratings("chat"), [], "the ratings of the other tenant")
await ada.rate("chat", second, 1)
assert.deepEqual((await ada.ratings("chat")).at(-1), { messageId: second, stars: 1 }, "a rating without a comment")
const context = [
  { role: "user", text: "hello" },
  { role: "assistant", text: "hi" },
  { role: "user", text: "again" },
  { role: "assistant", text: "hi again" },
]
assert.deepEqual(await ada.context("chat"), context, "what a model gets")
assert.deepEqual(await bob.context("chat"), [{ role: "user", text: "secret of bob" }])
await ada.close()
await bob.close()

// A tenant is a schema of its own, or tables with a prefix of their own.
const { rows } = await db.query(
  "SELECT table_schema AS schema, table_name AS name FROM information_schema.tables WHERE table_name LIKE '%meta'",
)
const places = []
for (const { schema, name } of rows) {
  const prefix = name.slice(0, -"meta".length)
  const { rows: heads } = await db.query(
    "SELECT 1 FROM information_schema.tables WHERE table_schema = $1 AND table_name = $2",
    [schema, `${prefix}session`],
  )
  if (heads.length > 0) places.push({ schema, prefix })
}
const found = []
for (const { schema, prefix } of places) {
  const options = { client: db, schema, create: false, durability: "os", ...(prefix && { prefix }) }
  const sessions = createSessions({ storage: createPostgresStorage(options) })
  const session = await theSession(sessions)
  const entries = []
  for await (const entry of session.entries()) entries.push(entry)
  await checkUndamaged(sessions)
  found.push(entries)
}
assert.equal(found.length, 2, `the places of two tenants: ${JSON.stringify(places)}`)
const [of] = found.filter((entries) => !entries.some(({ id }) => id === other))
const ratings = of.filter(({ type }) => type === "shop:rating")
assert.deepEqual(
  ratings.map(({ target, stars, comment }) => [target, stars, comment]),
  [
    [second, 2, undefined],
    [first, 3, "fine"],
    [second, 5, "better"],
    [second, 1, undefined],
  ],
  "the ratings in the log",
)
await db.close()
process.exit(0)

function checkTypes() {
  const file = solutionFile("ratings.ts")
  const source = readFileSync(file, "utf8").replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$|"[^"\n]*"|'[^'\n]*'|`[^`]*`/gm, "")
  assert.ok(!/\bany\b/.test(source), "it has `any`")
  const imported = source.replaceAll(/^(?:import|export)\b[^;]*?\bfrom\b/gm, "")
  assert.ok(!/\bas\s+(?!const\b)/.test(imported), "it has a type assertion")
  const use = join(process.cwd(), "solution", "use.ts")
  writeFileSync(
    use,
    `import { PGlite } from "@electric-sql/pglite"
import { openTenant, type Stars } from "./ratings.ts"
const tenant = await openTenant(new PGlite(), "ada")
const id: string = await tenant.say("chat", "user", "hello")
const five: Stars = 5
await tenant.rate("chat", id, five, "good")
// @ts-expect-error
await tenant.rate("chat", id, 6)
// @ts-expect-error
await tenant.say("chat", "tool", "hello")
for (const { stars } of await tenant.ratings("chat")) { const known: Stars = stars; console.log(known) }
`,
  )
  const options =
    "--noEmit --strict --target esnext --module nodenext --allowImportingTsExtensions --skipLibCheck --types node".split(
      " ",
    )
  const tsc = join(process.cwd(), "../../../node_modules/typescript/bin/tsc")
  try {
    execFileSync(process.execPath, [tsc, ...options, use], { encoding: "utf8" })
  } catch (error) {
    assert.fail(`it does not compile: ${error.stdout}`)
  }
}
