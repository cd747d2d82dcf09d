import { readFileSync } from "node:fs"
import { expect, test } from "vitest"

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8")

test("the loops of docs/providers.md are these files", () => {
  const shown = [...read("../../docs/providers.md").matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code]) => code)
  const names = ["openai-chat", "anthropic"]
  expect(shown).toEqual(expect.arrayContaining(names.map((name) => read(`${name}.ts`))))
})
