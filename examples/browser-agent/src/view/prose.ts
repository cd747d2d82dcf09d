/** The little Markdown that models write, as elements; whatever else stands in a text is shown as it is. */
import { h } from "./dom.ts"

export function prose(text: string): DocumentFragment {
  const fragment = document.createDocumentFragment()
  // Every second piece stands between fences; one that was not closed yet is one, too.
  for (const [index, piece] of text.split(/^```.*$\n?/m).entries()) {
    if (index % 2 === 1) fragment.append(h("pre", { tabindex: 0 }, h("code", {}, piece.replace(/\n$/, ""))))
    else for (const block of piece.split(/\n{2,}/)) fragment.append(...blockOf(block))
  }
  return fragment
}

const ITEM = /^\s*(?:[-*]|\d+[.)])\s+(?:\[[ x]\]\s+)?/

function blockOf(block: string): readonly Node[] {
  const lines = block.split("\n").filter((line) => line.trim() !== "")
  const blocks: Node[] = []
  let said: string[] = []
  let items: HTMLElement[] = []
  const end = (): void => {
    if (said.length > 0) blocks.push(h("p", {}, ...inline(said.join("\n"))))
    if (items.length > 0) blocks.push(h("ul", {}, ...items))
    said = []
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
      if (said.length > 0) end()
      items.push(h("li", {}, ...inline(line.replace(ITEM, ""))))
    } else {
      if (items.length > 0) end()
      said.push(line)
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
