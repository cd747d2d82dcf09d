/** Runs the example for a page from the README, unchanged. */
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"
import { type Engine, openBrowser, serve } from "../../../../.config/browsers/page.ts"

const engine = (process.env["ENGINE"] ?? "chromium") as Engine

void test(`${engine}: the README's example for a page runs unchanged, and continues after a reload`, async () => {
  const readme = readFileSync(new URL("../../../../README.md", import.meta.url), "utf8")
  const code = /^### A page in a browser$[^]*?^```ts\n([^]*?)^```$/m.exec(readme)?.[1] ?? ""
  assert.ok(code.includes("createIndexedDbStorage"), "the README has no example for a page")
  const { outputFiles } = await build({
    stdin: { contents: code, loader: "ts", resolveDir: fileURLToPath(new URL(".", import.meta.url)) },
    bundle: true,
    format: "esm",
    target: "es2022",
    conditions: ["@sessions/source"],
    write: false,
  })
  const keep = "globalThis.printed = []; console.log = (...words) => printed.push(words.join(' '))"
  const server = await serve({
    "/": `<!doctype html><meta charset="utf-8"><title>readme</title><script>${keep}</script><script type="module" src="page.js"></script>`,
    "/page.js": outputFiles[0]?.text ?? "",
  })
  const page = await openBrowser(engine)
  try {
    for (const messages of [2, 4]) {
      await page.open(server.url)
      const printed = await page.evaluate(
        "while (printed.length < 2) await new Promise((resolve) => setTimeout(resolve, 10)); return printed.join('\\n')",
      )
      assert.match(String(printed), new RegExp(`^${messages}\nhello ${messages}$`))
    }
  } finally {
    await page.close()
    await server.close()
  }
})
