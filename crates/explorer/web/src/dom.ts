// Elements. Texts of the model reach the page as text only, never as markup.

type Child = Node | string | number | null | undefined | false;

export function el(tag: string, attributes: Record<string, unknown> = {}, ...children: Child[]): HTMLElement {
  const element = document.createElement(tag);
  apply(element, attributes);
  for (const child of children) if (child !== null && child !== undefined && child !== false) element.append(child instanceof Node ? child : String(child));
  return element;
}

export function svg(tag: string, attributes: Record<string, unknown> = {}, ...children: Node[]): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  apply(element, attributes);
  element.append(...children);
  return element;
}

function apply(element: Element, attributes: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on") && typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

export const $ = (id: string): HTMLElement => document.getElementById(id) as HTMLElement;

export function replace(element: Element, ...children: Child[]): void {
  element.replaceChildren(...children.filter((c): c is Node | string | number => c !== null && c !== undefined && c !== false).map((c) => (c instanceof Node ? c : String(c))));
}

/** Children by what they say: those that say the same as before stay where they are, so that the browser need not lay them out and paint them again. */
export class Kept {
  private known = new Map<string, HTMLElement>();
  constructor(private parent: Element) {}

  /** Shows these and no others, in this order. */
  draw(wanted: Iterable<readonly [string, () => HTMLElement]>): void {
    const now = new Map<string, HTMLElement>();
    for (const [key, make] of wanted) now.set(key, this.known.get(key) ?? make());
    for (const [key, element] of this.known) if (!now.has(key)) element.remove();
    let next = this.parent.firstChild;
    for (const element of now.values()) {
      if (element === next) next = next.nextSibling;
      else this.parent.insertBefore(element, next);
    }
    this.known = now;
  }
}

/** A number for each thing that is met, the same one each time. */
const numbers = new WeakMap<object, number>();
let numbered = 0;
export function numberOf(thing: object): number {
  const known = numbers.get(thing) ?? ++numbered;
  numbers.set(thing, known);
  return known;
}

let letter = "";
/** Threads of a program are called T0, T1, …; processes of a model have a number. */
export function threadsAre(called: string): void {
  letter = called;
}
export const called = (pid: number): string => `${letter}${pid}`;

/** A process's badge: the number carries the meaning, the colour helps. */
export function badge(pid: number, title?: string): HTMLElement {
  return el("span", { class: `badge p${pid % 4}`, title }, called(pid));
}

export function stepLink(step: number, go: (step: number) => void): HTMLElement {
  return el("button", { class: "step", onclick: () => go(step) }, step === 0 ? "start" : `step ${step}`);
}
