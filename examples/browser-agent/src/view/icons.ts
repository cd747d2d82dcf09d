/** Icons as SVG paths of 24 by 24 units. */

const PATHS = {
  menu: "M4 7h16M4 12h16M4 17h16",
  branches:
    "M7 8v8M17 9c0 4-10 2-10 7M7 8a2.3 2.3 0 1 0 0-4.6A2.3 2.3 0 0 0 7 8zM17 9a2.3 2.3 0 1 0 0-4.6A2.3 2.3 0 0 0 17 9zM7 20.6a2.3 2.3 0 1 0 0-4.6 2.3 2.3 0 0 0 0 4.6z",
  close: "M6 6l12 12M18 6L6 18",
  plus: "M12 5v14M5 12h14",
  edit: "M4 20h4L19 9l-4-4L4 16zM13 7l4 4",
  fork: "M12 21v-7M12 14c0-4-6-3-6-8M12 14c0-4 6-3 6-8M3.5 8.5L6 6l2.5 2.5M15.5 8.5L18 6l2.5 2.5",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13M10.5 11v5M13.5 11v5",
  save: "M12 4v11M7.5 11l4.5 4.5 4.5-4.5M5 20h14",
  load: "M12 16V5M7.5 9L12 4.5 16.5 9M5 20h14",
  compact: "M5 4h14M5 20h14M12 7v3.5M9 9l3 3 3-3M12 17v-3.5M9 15l3-3 3 3",
  stop: "M7 7h10v10H7z",
  send: "M12 20V5M6 11l6-6 6 6",
  again: "M19 12a7 7 0 1 1-2.2-5.1M19 4v4h-4",
  previous: "M14.5 6l-6 6 6 6",
  next: "M9.5 6l6 6-6 6",
  more: "M5.5 11.4v1.2M12 11.4v1.2M18.5 11.4v1.2",
  sync: "M19 9a7.5 7.5 0 0 0-13.5-1.5M5 4v4h4M5 15a7.5 7.5 0 0 0 13.5 1.5M19 20v-4h-4",
  model: "M12 3v3M12 18v3M3 12h3M18 12h3M7 7h10v10H7z",
} as const

export type IconName = keyof typeof PATHS

export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg")
  svg.setAttribute("viewBox", "0 0 24 24")
  svg.setAttribute("class", "icon")
  svg.setAttribute("aria-hidden", "true")
  const path = document.createElementNS(svg.namespaceURI, "path")
  path.setAttribute("d", PATHS[name])
  svg.append(path)
  return svg
}
