import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach, expect, test } from "vitest"
import { createProject, UsageError } from "./create.ts"

const template = fileURLToPath(new URL("../template", import.meta.url))
const root = mkdtempSync(join(tmpdir(), "sessions-create-"))
afterEach(() => rmSync(root, { recursive: true, force: true }))

const create = (folder: string): readonly string[] =>
  createProject({ template, folder: join(root, folder), version: "1.2.3", year: 2031 })

test("a project has the name of its folder in every file, the versions of our packages, and the year", () => {
  const files = create("deep/redis-streams")
  const texts = files.map((path) => readFileSync(join(root, "deep/redis-streams", path), "utf8"))
  expect(files).toContain(join(".github", "workflows", "test.yml"))
  expect(files).toContain(".gitignore")
  expect(texts.join("\n")).not.toMatch(/my-store|MyStore|YEAR|"\*"/)
  const textOf = (path: string): string => texts[files.indexOf(path)] ?? ""
  expect(textOf(join("src", "index.ts"))).toContain("createRedisStreamsStorage")
  expect(textOf("LICENSE")).toContain("(c) 2031 the authors of redis-streams")
  const { name, dependencies, devDependencies } = JSON.parse(textOf("package.json")) as Record<string, object>
  expect({ name, dependencies }).toEqual({ name: "redis-streams", dependencies: { "@sessions/core": "^1.2.3" } })
  expect(devDependencies).toMatchObject({ "@sessions/conformance": "^1.2.3", "@sessions/memory": "^1.2.3" })
})

test("a scope before the name is that of the package, and not in the names of the code", () => {
  const files = create("@acme/redis-streams")
  const textOf = (path: string): string => readFileSync(join(root, "@acme/redis-streams", path), "utf8")
  expect(JSON.parse(textOf("package.json"))).toMatchObject({ name: "@acme/redis-streams" })
  expect(textOf(join("src", "index.ts"))).toContain("createRedisStreamsStorage")
  expect(textOf("README.md")).toContain('from "@acme/redis-streams"')
  expect(files.map(textOf).join("\n")).not.toMatch(/my-store|MyStore/)
})

test("a name that no package may have and a folder with files are refused, and nothing is written", () => {
  for (const name of ["My-Store", "my store", "3store", "store_", "-", "my--store", "@Acme/store", "@/store"])
    expect(() => create(name)).toThrow(/cannot name the package/)
  expect(existsSync(root)).toBe(false)
  create("taken")
  const before = readdirSync(join(root, "taken"))
  expect(() => create("taken")).toThrow(UsageError)
  expect(readdirSync(join(root, "taken"))).toEqual(before)
})

test("an empty folder that exists is used", () => {
  create("mine")
  for (const name of readdirSync(join(root, "mine"))) rmSync(join(root, "mine", name), { recursive: true })
  expect(create("mine")).toContain("package.json")
  writeFileSync(join(root, "mine", "more"), "")
  expect(() => create("mine")).toThrow(/not empty/)
})
