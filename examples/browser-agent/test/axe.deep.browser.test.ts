/** The page under axe-core: its views, light and dark, from 320 to 2,560 px; and nothing is wider than the screen or cut off. */
import assert from "node:assert/strict"
import { describe } from "node:test"
import axe from "axe-core"
import type { Page } from "playwright"
import { ask, check } from "./harness.ts"

const WIDTHS = [320, 768, 1280, 2560]

void describe("access", { concurrency: 2 }, () => {
  for (const scheme of ["light", "dark"] as const)
    check(
      `no serious finding of axe-core, and nothing wider than the screen, in ${scheme}`,
      async (open) => {
        const page = await open()
        assert.equal(await matches(page, "(prefers-color-scheme: dark)"), scheme === "dark")
        // Panels in motion are wider than the screen.
        assert.ok(await matches(page, "(prefers-reduced-motion: reduce)"))
        await inspect(page, "a new session")
        await ask(
          page,
          "# Title\n\nHow do `branches` **work**?\n\n```\n" + "wide ".repeat(60) + "\n```",
          /Looking writes nothing/,
        )
        await page.getByRole("button", { name: "Answer again, as a branch" }).click()
        await page.getByText("2 of 2").waitFor()
        await page.locator(".call").first().locator("summary").click()
        await page.evaluate(() => document.querySelector(".notices")?.replaceChildren())
        await inspect(page, "a conversation")
        await page.getByRole("button", { name: "Edit and send again" }).click()
        await inspect(page, "an edited question")
        await page.keyboard.press("Escape")
        await page.getByRole("searchbox").fill("branches")
        await page.getByRole("list", { name: "Found messages" }).getByRole("button").first().waitFor()
        await inspect(page, "a search")
        for (const name of [/^Sync with/, /^Model: /, "Delete"] as const) {
          await page.setViewportSize({ width: 1280, height: 800 })
          await page.getByRole("button", { name }).click()
          await inspect(page, `the dialog of ${String(name)}`)
          await page.keyboard.press("Escape")
        }
      },
      { scheme },
    )

  check("on a phone the panels open with their buttons, keep the focus inside, and close with Escape", async (open) => {
    const page = await open()
    await page.setViewportSize({ width: 320, height: 640 })
    for (const name of ["Sessions", "Branches"]) {
      const opener = page.getByRole("button", { name, exact: true })
      await opener.click()
      assert.equal(await page.evaluate(() => document.querySelector("main")?.inert), true)
      await inspect(page, `the panel ${name}`, [320])
      await page.keyboard.press("Escape")
      assert.equal(await opener.getAttribute("aria-expanded"), "false")
      assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("aria-label")), name)
    }
  })
})

interface Finding {
  readonly id: string
  readonly impact: string | null
  readonly nodes: readonly { readonly html: string }[]
}

function matches(page: Page, query: string): Promise<boolean> {
  return page.evaluate((text) => matchMedia(text).matches, query)
}

async function inspect(page: Page, view: string, widths: readonly number[] = WIDTHS): Promise<void> {
  // The page allows no scripts but its own; those of a test do not run through its policy.
  await page.evaluate(axe.source)
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 })
    assert.deepEqual(await tooWide(page), [], `${view}, ${width} px`)
    // The layout of the wider ones is that of 1,280 px.
    if (width !== 320 && width !== 1280) continue
    const { violations } = await page.evaluate<{ violations: readonly Finding[] }>(`axe.run()`)
    const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical")
    const found = serious.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
    assert.deepEqual(found, [], `${view}, ${width} px`)
  }
}

/** The document, and elements whose text is cut off although they do not scroll and end with no ellipsis. */
function tooWide(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const wide = document.documentElement.scrollWidth > innerWidth ? ["the document"] : []
    for (const element of document.querySelectorAll(".context *, .top *, .sidebar *, .status-note *, dialog *")) {
      const { overflowX, textOverflow } = getComputedStyle(element)
      if (overflowX !== "visible" && textOverflow === "clip" && element.scrollWidth > element.clientWidth + 1)
        wide.push(element.outerHTML.slice(0, 120))
    }
    return wide
  })
}
