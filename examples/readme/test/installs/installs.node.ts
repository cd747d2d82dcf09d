/**
 * Each install line of the pages, as it stands, in an empty folder with an empty home, from the packages as npm gets them. Then what it names can be imported,
 * and the first program below it prints what its page shows.
 */
import assert from "node:assert/strict"
import { randomUUID } from "node:crypto"
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { after, describe, test, type TestContext } from "node:test"
import { fileURLToPath } from "node:url"
import { shownExamples } from "../../../../.tools/lib/example-lines.mjs"
import { isShown } from "../../../../.tools/lib/shown.mjs"
import { type Block, ELSEWHERE, NEEDS_BUCKET, NEEDS_DATABASE } from "../../blocks.ts"
import { missingPeers, type Packages } from "./installed.ts"
import { installLines, type InstallLine } from "./lines.ts"
import { newMachine } from "./machine.ts"
import { manifestOf, startRegistry, type Tarball } from "./registry.ts"

const SURROUNDINGS = new URL("../../surroundings.ts", import.meta.url).href
const EXAMPLES = fileURLToPath(new URL("../../../", import.meta.url))
const { INSTALLS_FOLDER = "", TARBALLS = "[]", POSTGRES_TEST_SERVER: database, S3_TEST_SERVER: server } = process.env

const tarballs = JSON.parse(TARBALLS) as readonly Tarball[]
const registry = await startRegistry(tarballs)
const machine = newMachine(INSTALLS_FOLDER, registry.url)
after(() => void registry.server.close())

/** Runs a line of which nothing may fail; returns what it has printed. */
async function must(line: string, cwd: string, variables?: Readonly<Record<string, string>>): Promise<string> {
  const { code, stdout, stderr } = await machine.sh(line, cwd, variables)
  assert.equal(code, 0, `${line} ended with ${code}:\n${stdout}\n${stderr}`)
  return stdout
}

async function installed(command: string, packages: readonly string[]): Promise<string> {
  const folder = machine.folder()
  // What a page installs has an optional part of 381 MB, which its programs do not need.
  await must(command, folder, command.includes("claude-agent-sdk") ? { npm_config_omit: "optional" } : {})
  if (command.startsWith("npm ")) {
    const lock = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8")) as { readonly packages: Packages }
    assert.deepEqual(missingPeers(lock.packages, packages), [], command)
  }
  await must(runnerOf(command, "imports.mjs"), folder, write(folder, "imports.mjs", importsOf(packages)))
  return folder
}

function write(folder: string, name: string, text: string): Readonly<Record<string, string>> {
  writeFileSync(join(folder, name), text)
  return {}
}

function runnerOf(command: string, file: string): string {
  if (command.startsWith("bun ")) return `bun ${file}`
  if (command.startsWith("deno ")) return `deno run -A ${file}`
  return `node ${file}`
}

/** Imports all that the packages export, except the entries of commands, which would run. */
function importsOf(packages: readonly string[]): string {
  const entries = packages.flatMap((name) => {
    const file = tarballs.find((one) => one.name === name)?.file
    if (file === undefined) return [name]
    const { exports, bin = {} } = manifestOf(file)
    return Object.entries(exports)
      .filter(([, { default: entry }]) => !Object.values(bin).includes(entry))
      .map(([path]) => name + path.slice(1))
  })
  return `${entries.map((name) => `await import(${JSON.stringify(name)})`).join("\n")}\nprocess.exit(0)\n`
}

async function runBlock(
  t: TestContext,
  command: string,
  folder: string,
  { place, code, prints }: Block,
): Promise<void> {
  const needs = NEEDS_BUCKET.test(code) ? "bucket" : NEEDS_DATABASE.test(code) ? "database" : undefined
  const elsewhere = ELSEWHERE.find(([pattern]) => pattern.test(code))?.[1]
  if (needs === undefined && elsewhere !== undefined) return skip(t, `${place} runs in ${elsewhere}`)
  if (needs === "bucket" && server === undefined) return skip(t, `${place} needs a server for S3`)
  if (needs === "database" && database === undefined) return skip(t, `${place} needs a PostgreSQL server`)
  const cwd = join(folder, `run-${randomUUID()}`)
  mkdirSync(cwd)
  writeFileSync(join(cwd, "main.ts"), code)
  const variables =
    needs === "bucket" ? await newBucket(folder, code) : needs === "database" ? await newDatabase(folder) : {}
  const program = command.startsWith("npm ") ? `node --import ${SURROUNDINGS} main.ts` : runnerOf(command, "main.ts")
  const printed = await must(program, cwd, variables)
  const lines = printed === "" ? [] : printed.trimEnd().split("\n")
  if (!isShown(lines, prints)) assert.deepEqual(lines, prints, place)
}

function skip(t: TestContext, reason: string): void {
  t.diagnostic(reason)
  console.log(`measured: skipped: ${reason}`)
}

/** By the client that the line has installed. */
async function newBucket(folder: string, code: string): Promise<Readonly<Record<string, string>>> {
  const { endpoint, region, accessKeyId, secretAccessKey } = JSON.parse(server ?? "") as Record<string, string>
  const variables = {
    BUCKET: `installs-${randomUUID().slice(0, 8)}`,
    TOKEN: "a token of the test",
    AWS_REGION: region ?? "",
    AWS_ENDPOINT_URL_S3: endpoint ?? "",
    AWS_ACCESS_KEY_ID: accessKeyId ?? "",
    AWS_SECRET_ACCESS_KEY: secretAccessKey ?? "",
  }
  const named = [...code.matchAll(/bucket: "([^"]+)"/g)].map(([, name = ""]) => name)
  const calls = [variables.BUCKET, ...named].map(
    (name) => `await client.send(new CreateBucketCommand({ Bucket: "${name}" }))`,
  )
  const lines = [
    'import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3"',
    "const client = new S3Client({ forcePathStyle: true })",
    ...calls,
  ]
  await must("node bucket.mjs", folder, { ...variables, ...write(folder, "bucket.mjs", `${lines.join("\n")}\n`) })
  return variables
}

async function newDatabase(folder: string): Promise<Readonly<Record<string, string>>> {
  const name = `installs_${randomUUID().slice(0, 8)}`
  const lines = [
    'import { Client } from "pg"',
    `const client = new Client({ connectionString: process.env.DATABASE_URL })`,
    `await client.connect()`,
    `await client.query("CREATE DATABASE ${name}")`,
    `await client.end()`,
  ]
  const address = new URL(database ?? "")
  await must("node database.mjs", folder, {
    DATABASE_URL: address.href,
    ...write(folder, "database.mjs", lines.join("\n")),
  })
  address.pathname = `/${name}`
  return { DATABASE_URL: address.href }
}

/** These need a model, or run until they are stopped. */
const NOT_HERE = / (?:serve|compact) ?/
const LOG = `{"type":"session","version":3,"id":"a","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/project"}
{"type":"message","id":"m1","parentId":null,"timestamp":"2026-01-02T03:04:06.000Z","message":{"role":"user","content":"fix the tests"}}
`

async function runLine(t: TestContext, { command, packages, blocks }: InstallLine): Promise<void> {
  const [program = ""] = command.split(" ")
  if (["bun", "deno"].includes(program) && !machine.has(program))
    return skip(t, `${command}: this machine has no ${program}`)
  if (program === "npx") {
    const folder = machine.folder()
    writeFileSync(join(folder, "old-session.jsonl"), LOG)
    // The page has the file in the home.
    for (const line of command.split("\n").filter((one) => !NOT_HERE.test(one)))
      await must(line.replace("~/", "./"), folder)
    return
  }
  if (command.startsWith("npm create ")) {
    await must(command, machine.folder())
    return
  }
  if (command.includes("--global")) {
    const folder = machine.folder()
    await must(`${command} && sessions --version`, folder)
    return
  }
  const folder = await installed(command, packages)
  for (const block of blocks) await runBlock(t, command, folder, block)
}

if (tarballs.length === 0) throw new Error("The step `installs` runs these tests.")

void describe("install lines", { concurrency: 2 }, () => {
  for (const line of installLines())
    void test(`${line.command.replace(/\n[^]*/, " …")} (${line.places.join(", ")})`, (t) => runLine(t, line))

  for (const example of shownExamples())
    void test(`npm install in a copy of examples/${example.name}`, async () => {
      const folder = join(machine.folder(), example.name)
      const filter = (path: string): boolean => !["node_modules", "dist", "package-lock.json"].includes(basename(path))
      cpSync(join(EXAMPLES, example.name), folder, { recursive: true, filter })
      await must("npm install", folder, example.name === "claude-agent" ? { npm_config_omit: "optional" } : {})
      for (const command of example.commands) {
        const printed = (await must(command, folder)).replace(/^(?:\n?> .*\n)*\n/, "").trimEnd()
        if (
          command === example.commands.at(-1) &&
          example.shown !== undefined &&
          !isShown(printed.split("\n"), example.shown)
        )
          assert.deepEqual(printed.split("\n"), example.shown)
      }
    })

  void test("a line that misses a peer, and one that names a package that does not exist, fail", async () => {
    const names = ["@sessions/core", "@sessions/s3"]
    await assert.rejects(installed(`npm install ${names.join(" ")}`, names), /needs @aws-sdk\/client-s3/)
    await assert.rejects(installed("npm install @sessions/cor", ["@sessions/cor"]), /404/)
  })
})
