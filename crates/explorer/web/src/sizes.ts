// How large parts of the page are. The browser tells when that changes: asking an element for its size makes the browser lay out the page at once, and
// a step asks often.

import { $ } from "./dom";

const known = new Map<string, { width: number; height: number }>();
/** What was drawn for last, also where that is to be asked for again. */
const last = new Map<string, { width: number; height: number }>();
const observed = new Set<string>();
let tell: (id: string) => void = () => {};

const observer = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const [now, before] = [{ width: target.clientWidth, height: target.clientHeight }, last.get(target.id)];
    known.set(target.id, now);
    if (now.width > 0) last.set(target.id, now);
    if (before && now.width > 0 && (before.width !== now.width || before.height !== now.height)) tell(target.id);
  }
});

/** Who is told when a part has another size. */
export function whenResized(told: (id: string) => void): void {
  tell = told;
}

/** The inner width and height of an element. */
export function size(id: string): { width: number; height: number } {
  const found = known.get(id);
  if (found && found.width > 0) return found;
  const element = $(id);
  if (!observed.has(id)) observer.observe(element);
  observed.add(id);
  const measured = { width: element.clientWidth, height: element.clientHeight };
  known.set(id, measured);
  if (measured.width > 0) last.set(id, measured);
  return measured;
}

/** Something was shown or hidden: sizes are asked for again. */
export function forgetSizes(): void {
  known.clear();
}
