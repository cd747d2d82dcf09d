// `pnpm test:sdks [NAME]`: runs the tests by which the SDKs judge our packages for them, and prints one line a judge with its counts.
import { rmSync } from "node:fs"
import { join } from "node:path"
import { newestNode } from "./lib/runtimes.mjs"
import { run } from "./lib/run.mjs"
import { root } from "./lib/workspace.mjs"
import { outcomeOf, total } from "./test/report.mjs"
import { countsOf, program } from "./test/vitest.mjs"

/** A package adds one line: its name, a judge, and the beginning of the judge's test files, deep ones too. */
const JUDGES = [
  {
    name: "claude-agent",
    judge: "types and readers of the Claude Agent SDK",
    files: "packages/claude-agent/test/sdk.",
  },
  {
    name: "openai-agents",
    judge: "Runner of the OpenAI Agents SDK",
    files: "packages/openai-agents/test/runner.",
  },
  {
    name: "openai-agents",
    judge: "the SDK's models, with validators of the APIs",
    files: "packages/openai-agents/test/receiver.",
  },
  {
    name: "ai-sdk",
    judge: "streams and validateUIMessages of the AI SDK",
    files: "packages/ai-sdk/test/scenes.",
  },
  ...["receivers.", "odd-chats.", "hosted-calls."].map((files) => ({
    name: "ai-sdk",
    judge: `the AI SDK's providers, with validators of the APIs (${files.slice(0, -1)})`,
    files: `packages/ai-sdk/test/${files}`,
  })),
  {
    name: "providers",
    judge: "the providers' clients, with a server on loopback",
    files: "examples/providers/main.test.ts",
  },
  {
    name: "providers",
    judge: "the providers' clients and the AI SDK's providers, with validators of the APIs",
    files: "packages/providers/test/clients",
  },
  {
    name: "providers",
    judge: "the AI SDK's providers after any history, with validators of the APIs",
    files: "packages/providers/test/sendable-ai-sdk.",
  },
  {
    name: "langgraph",
    judge: "validation suite of LangGraph",
    files: "packages/langgraph/test/validation-",
  },
]

/** Judges that need a program which is not installed here: its path is in a variable of the environment. */
const OPTIONAL = [
  {
    name: "claude-agent",
    judge: "the command of the Claude Agent SDK, with a model on loopback",
    variable: "CLAUDE_COMMAND",
    needs: "the file `claude` of the npm package @anthropic-ai/claude-agent-sdk-PLATFORM-ARCH",
    program: "packages/claude-agent/test/command/main.ts",
  },
]

const only = process.argv[2]
const judges = JUDGES.filter(({ name }) => only === undefined || name === only)
if (judges.length === 0) {
  console.error(`There is no package ${only}; choose from ${[...new Set(JUDGES.map(({ name }) => name))].join(", ")}.`)
  process.exit(2)
}
const outcomes = []
for (const { name, judge, files } of judges) outcomes.push(await judged(`${name}: ${judge}`, files))
for (const optional of OPTIONAL.filter(({ name }) => only === undefined || name === only))
  outcomes.push(...(await judgedByProgram(optional)))
const { passed, failed, skipped } = total(outcomes)
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`)
process.exitCode = failed > 0 ? 1 : 0

async function judged(label, files) {
  const file = join(root, ".reports", "sdks.json")
  rmSync(file, { force: true })
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`]
  const result = await run(
    newestNode(),
    [program, "run", "--config", ".config/vitest.config.ts", ...reporters, files],
    { env: { DEEP: "1" } },
  )
  const outcome = outcomeOf(countsOf(file), result)
  if (outcome.failed > 0) console.log(`\n${outcome.output.trim()}\n`)
  const skipped = outcome.skipped > 0 ? `, ${outcome.skipped} skipped` : ""
  console.log(
    `${outcome.failed > 0 ? "FAIL" : "ok  "}  ${label}: ${outcome.passed} passed, ${outcome.failed} failed${skipped}`,
  )
  return outcome
}

async function judgedByProgram({ name, judge, variable, needs, program }) {
  const path = process.env[variable]
  if (path === undefined) {
    console.log(`left out  ${name}: ${judge}: set ${variable} to the path of ${needs}`)
    return []
  }
  const result = await run(newestNode(), ["--conditions=@sessions/source", join(root, program), path])
  const [, passed = 0, failed = 1] = /^(\d+) passed, (\d+) failed$/m.exec(result.output) ?? []
  const outcome = outcomeOf({ passed: Number(passed), failed: Number(failed), skipped: 0 }, result)
  if (outcome.failed > 0) console.log(`\n${outcome.output.trim()}\n`)
  console.log(
    `${outcome.failed > 0 ? "FAIL" : "ok  "}  ${name}: ${judge}: ${outcome.passed} passed, ${outcome.failed} failed`,
  )
  return [outcome]
}
