/** Renders the subset of Markdown that models usually write; all other text is shown unchanged. */
import { h } from "./dom.ts"

export function prose(markdown: string): DocumentFragment {
  const fragment = document.createDocumentFragment()
  // Every second part is between code fences, also if the last fence is not closed yet.
  for (const [index, part] of markdown.split(/^```.*$\n?/m).entries()) {
    if (index % 2 === 1) fragment.append(h("pre", { tabindex: 0 }, h("code", {}, part.replace(/\n$/, ""))))
    else for (const block of part.split(/\n{2,}/)) fragment.append(...blockOf(block))
  }
  return fragment
}

const ITEM = /^\s*(?:[-*]|\d+[.)])\s+(?:\[[ x]\]\s+)?/

function blockOf(block: string): readonly Node[] {
  const lines = block.split("\n").filter((line) => line.trim() !== "")
  const blocks: Node[] = []
  let text: string[] = []
  let items: HTMLElement[] = []
  const end = (): void => {
    if (text.length > 0) blocks.push(h("p", {}, ...inline(text.join("\n"))))
    if (items.length > 0) blocks.push(h("ul", {}, ...items))
    text = []
    items = []
  }
  for (const line of lines) {
    const heading = /^#{1,6}\s+(.*)/.exec(line)?.[1]
    if (heading !== undefined) {
      end()
      blocks.push(h("p", { class: "heading" }, ...inline(heading)))
    } else if (/^\s*(?:-{3,}|\*{3,})\s*$/.test(line)) {
      end()
      blocks.push(h("hr"))
    } else if (ITEM.test(line)) {
      if (text.length > 0) end()
      items.push(h("li", {}, ...inline(line.replace(ITEM, ""))))
    } else {
      if (items.length > 0) end()
      text.push(line)
    }
  }
  end()
  return blocks
}

/** `code` and **bold**. */
function inline(text: string): (string | HTMLElement)[] {
  return text.split(/(`[^`\n]+`|\*\*[^*\n]+\*\*)/).map((piece, index) => {
    if (index % 2 === 0) return piece
    return piece.startsWith("`") ? h("code", {}, piece.slice(1, -1)) : h("strong", {}, piece.slice(2, -2))
  })
}
