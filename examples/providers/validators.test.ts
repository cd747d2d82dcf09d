import { execFile } from "node:child_process"
import { copyFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { FLAGS, folderFor } from "../../.config/program.ts"
import { type Api, startProviders } from "../../packages/providers/test/clients/server.ts"

const PROGRAMS: readonly {
  readonly name: string
  readonly api: Api
  readonly variable: string
  readonly path: string
}[] = [
  { name: "openai-chat", api: "openai", variable: "OPENAI_BASE_URL", path: "/v1" },
  { name: "openai-responses", api: "responses", variable: "OPENAI_BASE_URL", path: "/v1" },
  { name: "anthropic", api: "anthropic", variable: "ANTHROPIC_BASE_URL", path: "" },
  { name: "gemini", api: "gemini", variable: "GOOGLE_GEMINI_BASE_URL", path: "" },
  { name: "ai-sdk", api: "anthropic", variable: "ANTHROPIC_BASE_URL", path: "/v1" },
]

test("what the programs of docs/providers.md send is taken, also when they are run again on their logs", async () => {
  const here = fileURLToPath(new URL(".", import.meta.url))
  const { folder, remove } = folderFor(here)
  for (const { name } of PROGRAMS) await copyFile(join(here, `${name}.ts`), join(folder, `${name}.ts`))
  const providers = await startProviders()
  const channels = PROGRAMS.map(({ api }) => providers.open(api))
  const codeOf = (query: string) =>
    PROGRAMS.map(({ name, variable, path }, i) => {
      const url = JSON.stringify(`${channels[i]?.url}${path}`)
      return `process.env.${variable} = ${url}; await import("./${name}.ts${query}")`
    })
  const program = join(folder, "programs.mjs")
  // The second time as other modules, of the same process.
  await writeFile(program, [...codeOf(""), ...codeOf("?again")].join("\n"))
  const { NODE_OPTIONS: _, ...env } = process.env
  const keys = { OPENAI_API_KEY: "x", ANTHROPIC_API_KEY: "x", GEMINI_API_KEY: "x", NODE_NO_WARNINGS: "1" }
  await new Promise<void>((resolve, reject) => {
    execFile(
      process.execPath,
      [...FLAGS, program],
      { cwd: folder, env: { ...env, ...keys } },
      (error, stdout, stderr) => {
        if (error === null && stderr === "") resolve()
        else reject(new Error(`${stdout}\n${stderr}`))
      },
    )
  })
  for (const [i, { refusals, taken }] of channels.entries()) {
    expect(refusals, PROGRAMS[i]?.name).toEqual([])
    expect(taken, PROGRAMS[i]?.name).toHaveLength(4)
  }
  await providers.close()
  remove()
})
