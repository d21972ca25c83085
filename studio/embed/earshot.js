/* The call button of other people's pages (docs/button.md):
 *   <script src="https://HOST/embed/earshot.js" data-key="pk_..."></script>
 *   <earshot-call key="pk_..."></earshot-call>
 * This file holds the button; what a call needs (call.js with the other texts, livekit-client) is loaded at the first click. It makes
 * no inline style or script and no markup from strings, so that it runs under a strict content security policy. The texts are in
 * texts/, one file a language; the build joins them with what uses them. */
import * as en from './texts/en.json';
import * as hi from './texts/hi.json';

(() => {
  const script = document.currentScript;
  const home = new URL(script?.src ?? location.href);

  /* What is said before the first click; the other texts come with the panel. */
  let texts = { en: { label: en.label, unreachable: en.unreachable }, hi: { label: hi.label, unreachable: hi.unreachable } };

  const BUTTON_CSS = `:host{--a:var(--earshot-accent,#1f6f5c);--i:var(--earshot-accent-ink,#fff);display:inline-block;font:var(--earshot-font,15px/1.45 system-ui,sans-serif)}
:host([hidden]){display:none}:host([mode=floating]){position:fixed;z-index:2147483000;bottom:20px;right:20px}:host([mode=floating][position=left]){right:auto;left:20px}
.call{all:unset;box-sizing:border-box;display:inline-flex;gap:10px;align-items:center;min-height:44px;padding:10px 20px;border-radius:var(--earshot-radius,999px);background:var(--a);color:var(--i);font-weight:600;cursor:pointer}
.call:focus-visible{outline:3px solid var(--a);outline-offset:3px}.call svg{width:20px;height:20px;fill:currentColor}:host([mode=floating]) .call{box-shadow:0 4px 16px #0003}`;
  const HANDSET = 'M6.6 10.8a15 15 0 0 0 6.6 6.6l2.2-2.2a1 1 0 0 1 1-.25 11.4 11.4 0 0 0 3.6.57 1 1 0 0 1 1 1V20a1 1 0 0 1-1 1A17 17 0 0 1 3 4a1 1 0 0 1 1-1h3.5a1 1 0 0 1 1 1c0 1.25.2 2.45.57 3.6a1 1 0 0 1-.25 1z';

  /* Black or white, whichever can be read on the colour. */
  const inkOn = (colour) => {
    const context = document.createElement('canvas').getContext('2d');
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...context.getImageData(0, 0, 1, 1).data].map((c) => ((c / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? '#000' : '#fff';
  };

  class EarshotCall extends HTMLElement {
    static observedAttributes = ['label', 'lang', 'accent'];
    #button = document.createElement('button');
    #label = document.createElement('span');
    #call = null;
    #tries = 0;
    #ends = 0;

    constructor() {
      super();
      const root = this.attachShadow({ mode: 'open' });
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(BUTTON_CSS);
      root.adoptedStyleSheets = [sheet];
      const [icon, path] = ['svg', 'path'].map((name) => document.createElementNS('http://www.w3.org/2000/svg', name));
      path.setAttribute('d', HANDSET);
      icon.setAttribute('viewBox', '0 0 24 24');
      icon.setAttribute('aria-hidden', 'true');
      icon.append(path);
      this.#button.className = 'call';
      this.#button.part = 'button';
      this.#button.type = 'button';
      this.#button.append(icon, this.#label);
      this.#button.addEventListener('click', () => this.open());
      root.append(this.#button);
    }

    connectedCallback() { this.attributeChangedCallback(); }

    disconnectedCallback() { this.end(); }

    attributeChangedCallback() {
      const own = this.getAttribute('label');
      this.#label.textContent = own ?? this.text('label');
      this.#label.lang = own === null ? this.spoken : this.surrounding;
      const accent = this.getAttribute('accent');
      if (accent && CSS.supports('color', accent)) {
        this.style.setProperty('--earshot-accent', accent);
        this.style.setProperty('--earshot-accent-ink', inkOn(accent));
      }
    }

    get host() { return this.getAttribute('host') ?? home.origin; }

    /* The language of the page's own words around the button, and that of ours. */
    get surrounding() { return this.closest('[lang]')?.lang || navigator.language; }

    get spoken() {
      const id = this.surrounding.split('-')[0].toLowerCase();
      return Object.hasOwn(texts, id) ? id : 'en';
    }

    text(name, ...values) { return (texts[this.spoken][name] ?? '').replace(/\{(\d)\}/g, (_, n) => values[n]); }

    /* The panel; made at the first use. null: it cannot be loaded, which is said. A browser may remember what it could not load by its address. */
    async #panel() {
      this.attributeChangedCallback();
      this.#call ??= this.#load();
      try { return await this.#call; } catch {
        this.#call = null;
        this.#tries++;
        const message = this.#label.textContent = this.text('unreachable');
        this.#label.lang = this.spoken;
        this.dispatchEvent(new CustomEvent('earshot:error', { bubbles: true, composed: true, detail: { callId: null, code: 'unreachable', message } }));
      }
    }

    async #load() {
      const url = new URL('/embed/call.js', this.host); // which may be no address
      if (this.#tries) url.search = this.#tries;
      const { Call, TEXTS } = await import(url);
      texts = TEXTS;
      return new Call(this, this.#button);
    }

    /* Nothing that was asked for before the last end() begins after it, though the panel comes only then. */
    async #ask(what) {
      const ends = this.#ends, call = await this.#panel();
      if (ends === this.#ends) await call?.[what]();
      else if (what === 'start') this.dispatchEvent(new CustomEvent('earshot:ended', { bubbles: true, composed: true, detail: { callId: null, reason: 'caller', seconds: 0 } }));
    }

    open() { return this.#ask('open'); }

    start() { return this.#ask('start'); }

    async end() {
      this.#ends++;
      await (await this.#call?.catch(() => null))?.end();
    }
  }

  if (!customElements.get('earshot-call')) customElements.define('earshot-call', EarshotCall);

  /* The script tag with a key of its own is a floating button; its data- attributes are the element's. */
  if (script?.dataset.key) {
    const element = document.createElement('earshot-call');
    element.setAttribute('mode', 'floating');
    for (const { name, value } of script.attributes) if (/^data-[a-z]/.test(name)) element.setAttribute(name.slice(5), value);
    const place = () => document.body.append(element);
    if (document.body) place();
    else addEventListener('DOMContentLoaded', place);
  }
})();
