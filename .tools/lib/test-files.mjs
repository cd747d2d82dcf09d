// What kinds of vitest files there are, by what they and the files beside them import.
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { root } from "./workspace.mjs"

const FOLDERS = ["packages", "conformance", "examples", "benchmarks", ".tools"]
const IMPORT =
  /(?:^|\n)\s*(?:import|export)\b(?!\s+type\b)[^"'`;]*?["']([^"'\n]+)["']|\bimport\(\s*["']([^"'\n]+)["']\s*\)/g
/** Code that may do otherwise on another runtime: its own modules, and its global object. */
const RUNTIME = /from ["'](?:node:|bun["':])|\b(?:Bun|Deno)\.[a-z]|"(?:Bun|Deno)" in globalThis/
/** What the tests that start a program import. */
const PROGRAMS = join(root, ".config", "program.ts")
/** The tests of Node's own runner. */
const NODE_TEST = /from ["']node:test["']/
const LAWS = /["']fast-check["']|\bFC_RUNS\b/

const SUITE = /\bregister\b[^"]*"@sessions\/conformance"/

/** The files with vitest tests that need no browser, relative to the root. */
export function testFiles() {
  const isTest = (file) => /\.test\.(?:ts|mjs)$/.test(file) && !file.includes(".browser.")
  return FOLDERS.flatMap(filesIn).filter((file) => isTest(file) && !NODE_TEST.test(sourceOf(join(root, file)).text))
}

/** Those of `files` that test sources of their package which use a runtime's own API, not those that use it to test. */
export function touchingRuntimes(files) {
  return files.filter((file) => reaches(file, (path, text) => isSource(path) && RUNTIME.test(text)))
}

/** Those of `files` that start programs of the repository as processes. */
export function startingPrograms(files) {
  return files.filter((file) => reaches(file, (path) => path === PROGRAMS))
}

/** Those of `files` with property tests. */
export function withLaws(files) {
  return files.filter((file) => reaches(file, (_, text) => LAWS.test(text)))
}

/** Code that changes what other files in its process see, or depends on what they have loaded or left running. */
const CHANGES_OTHERS =
  /\bvi\.(?:mock|doMock|resetModules|stubGlobal|stubEnv|useFakeTimers)\b|\bglobalThis\.\w+ = |Object\.assign\((?:globalThis|process)|\bprocess\.(?:chdir|exit|umask|emitWarning)\b|\bprocess\.env(?:\[[^\]]+\]|\.\w+)? = |\bdelete process\.env|\bWorker\b|\bnode:(?:v8|vm|worker_threads)\b|\b(?:gc|memoryUsage|cpuUsage)\(/

/** Whether the code leaves a listener on the process. */
const listens = (text) => /\bprocess\.on\(/.test(text) && !/\bprocess\.off\(/.test(text)

/** A helper's hook at the top of its module, which runs for the first file only that loads it in a process. */
const HOOK = /^(?:after|before)(?:All|Each)\(/m

/** Those of `files` that can share a process, and the modules in it, with others. */
export function sharing(files) {
  return files.filter(
    (file) =>
      !reaches(
        file,
        (path, text) =>
          CHANGES_OTHERS.test(text) || listens(text) || (!/\.test\.(?:ts|mjs)$/.test(path) && HOOK.test(text)),
      ),
  )
}

/** Those of `files` that do not run the suite of the contract. */
export function withoutSuite(files) {
  return files.filter((file) => !SUITE.test(sourceOf(join(root, file)).text))
}

export function isDeep(file) {
  return file.includes(".deep.")
}

/** From so much CPU time on, in seconds, a test is in a deep file, or a comment `// Slow: …` in its file says why not. */
export const SLOW_CPU = 2

/** Whether a test of that time should be in a deep file. */
export function isTooSlow(file, cpu) {
  return cpu > SLOW_CPU && !isDeep(file) && !/^\s*\/\/ Slow: /m.test(sourceOf(join(root, file)).text)
}

function isSource(path) {
  return path.includes("/src/") && !path.includes(".test.")
}

/** Whether the file, or one that it imports directly or through others of its package, is one of those. */
function reaches(file, isWanted) {
  const seen = new Set([join(root, file)])
  for (const path of seen) {
    const { text, imports } = sourceOf(path)
    if (isWanted(path, text)) return true
    for (const one of imports) seen.add(one)
  }
  return false
}

const sources = new Map()

/** The text of a file, and the files that it names in a relative import. */
function sourceOf(path) {
  const known = sources.get(path)
  if (known !== undefined) return known
  const text = existsSync(path) ? readFileSync(path, "utf8") : ""
  const named = Array.from(text.matchAll(IMPORT), ([, from, lazily]) => from ?? lazily)
  const imports = named.filter((one) => /^\..*\.m?ts$/.test(one)).map((one) => join(dirname(path), one))
  const source = { text, imports }
  sources.set(path, source)
  return source
}

function filesIn(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (!entry.isDirectory()) return [path]
    return ["node_modules", "dist"].includes(entry.name) ? [] : filesIn(path)
  })
}
