import assert from "node:assert/strict"
import { describe } from "node:test"
import { answered, ask, asked, check, exported, ready, sessionId } from "./harness.ts"

// Concurrent, because the tests mostly wait for the agent; each has a browser context of its own.
void describe("sessions", { concurrency: 4 }, () => {
  check("an export that is imported again differs in its id only", async (open) => {
    const page = await open()
    await ask(page, "How do branches work?", /Looking writes nothing/)
    const first = sessionId(page)
    const text = await exported(page)
    const dropped = await page.evaluateHandle((text) => {
      const data = new DataTransfer()
      data.items.add(new File([text], "session.jsonl"))
      return data
    }, text)
    await page.dispatchEvent("body", "drop", { dataTransfer: dropped })
    await page.waitForURL((url) => url.hash !== "" && url.hash !== `#${first}`)
    await answered(page, "Looking writes nothing")
    const second = sessionId(page)
    assert.equal((await exported(page)).replace(second, first), text)
    await page.locator(".sessions li").nth(1).waitFor()
    assert.equal(await page.locator(".sessions li").count(), 2)
  })

  check("a file that is not a session is refused with a sentence, and nothing else happens", async (open) => {
    const page = await open()
    await page.setInputFiles("input[type=file]", {
      name: "notes.txt",
      mimeType: "text/plain",
      buffer: Buffer.from("hello\n"),
    })
    await page.getByRole("alert").getByText("Could not import notes.txt. The file is not a session").waitFor()
    assert.equal(await page.locator(".sessions li").count(), 0)
  })

  check("a compacted session keeps all lines, and marks those that the model gets a summary of", async (open) => {
    const page = await open()
    await ask(page, "How do branches work?", /Looking writes nothing/)
    await ask(page, "What is in storage?", /A browser may clear/)
    await ask(page, "Can I export a file?", /Drop such a file/)
    await page.getByRole("button", { name: /^Compact/ }).click()
    await page.getByText("Summarized: the model gets this").waitFor()
    await asked(page, ["How do branches work?", "What is in storage?", "Can I export a file?"])
    assert.ok((await page.locator(".line.summarized").count()) > 0)
    await page.getByRole("meter", { name: "Context window" }).waitFor()
    assert.match(await page.locator(".context .used").innerText(), /of them a summary/)
  })
})

// Not concurrent: Firefox has one active window, and only there a field loses the focus or Enter presses a button.
void describe("the focus", () => {
  check("rename, fork and delete", async (open) => {
    const page = await open()
    await ask(page, "How do branches work?", /Looking writes nothing/)
    const first = sessionId(page)
    await page.getByRole("button", { name: "Rename" }).click()
    await page.getByRole("textbox", { name: "Title" }).fill("About branches")
    await page.keyboard.press("Enter")
    await page.locator(".sessions .title", { hasText: /^About branches$/ }).waitFor()
    await page.getByRole("button", { name: "Fork: a new session with this branch" }).click()
    await page.getByRole("heading", { name: "About branches (fork)" }).waitFor()
    assert.notEqual(sessionId(page), first)
    await asked(page, ["How do branches work?"])
    await page.getByRole("button", { name: /^Compact/ }).click()
    await page.getByText("There is nothing to summarize yet").waitFor()
    await page.getByRole("button", { name: "Delete" }).click()
    const dialog = page.getByRole("alertdialog", { name: "Delete “About branches (fork)”?" })
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })
    assert.equal(await page.locator(".sessions li").count(), 2)
    await page.getByRole("button", { name: "Delete" }).click()
    await dialog.getByRole("button", { name: "Delete" }).click()
    await page.getByRole("heading", { name: "A new session" }).waitFor()
    await page.locator(".sessions li").nth(1).waitFor({ state: "detached" })
    assert.equal(await page.getByRole("alert").innerText(), "")
    assert.equal(await page.evaluate(() => document.activeElement?.tagName), "TEXTAREA")
    assert.deepEqual(await page.locator(".sessions .title").allTextContents(), ["About branches"])
  })

  check("everything works with the keyboard alone", async (open) => {
    const page = await open()
    const press = async (...keys: string[]): Promise<void> => {
      for (const key of keys) await page.keyboard.press(key)
    }
    const focusOn = async (name: string, key: "Tab" | "Shift+Tab" = "Tab"): Promise<void> => {
      for (let i = 0; i < 60; i++) {
        const focused = await page.evaluate(
          () => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent,
        )
        if (focused?.startsWith(name) === true) return
        await press(key)
      }
      assert.fail(`${key} does not reach ${name}.`)
    }
    await focusOn("Message")
    await page.keyboard.type("How do")
    await press("Shift+Enter")
    await page.keyboard.type("branches work?")
    await press("Enter")
    await answered(page, "Looking writes nothing")
    await ready(page)
    await asked(page, ["How do\nbranches work?"])
    // Backwards: behind the last element Firefox's focus leaves the page.
    await focusOn("Rename", "Shift+Tab")
    await press("Enter")
    await page.keyboard.type("By hand")
    await press("Enter")
    await page.getByRole("heading", { name: "By hand" }).waitFor()
    await focusOn("Edit and send again")
    await press("Enter")
    await page.keyboard.type(" (no)")
    await press("Escape")
    await asked(page, ["How do\nbranches work?"])
    await press("Enter", "Control+A")
    await page.keyboard.type("What is in storage?")
    await press("Enter")
    await answered(page, "A browser may clear")
    await ready(page)
    await focusOn("What is in storage?, a branch")
    await press("ArrowUp", "Enter")
    await answered(page, "Looking writes nothing")
    await asked(page, ["How do\nbranches work?"])
  })
})
