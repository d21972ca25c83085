/* The call button of other people's pages (docs/button.md):
 *   <script src="https://HOST/embed/earshot.js" data-key="pk_..."></script>
 *   <earshot-call key="pk_..."></earshot-call>
 * This file holds the button and all texts; what a call needs (call.js, livekit-client) is loaded at the first click. It makes no
 * inline style or script and no markup from strings, so that it runs under a strict content security policy. */
(() => {
  const script = document.currentScript;
  const home = new URL(script?.src ?? location.href);

  /* Every text, by language. {0} is filled in. A language more is a column more. */
  const TEXTS = {
    en: {
      label: 'Talk to us', title: 'Call', close: 'Close', start: 'Start the call', end: 'Hang up', mute: 'Mute', unmute: 'Unmute',
      language: 'Language', captions: 'Captions', you: 'You', agent: 'Agent', level: 'Your voice',
      consent: 'An automated agent answers. What is said is turned into text to answer you.',
      loading: 'Loading…', asking: 'Please allow the microphone…', connecting: 'Connecting…', waiting: 'Waiting for the agent…',
      initializing: 'Getting ready…', idle: 'Ready', listening: 'Listening', thinking: 'Thinking…', speaking: 'Speaking',
      lost: 'Connection lost, trying again…', ended: 'The call has ended', duration: 'Duration {0}',
      NotAllowedError: 'The microphone is blocked. Allow it for this page (the icon beside the address), then try again.',
      NotFoundError: 'No microphone was found. Connect one, then try again.',
      NotReadableError: 'Another program uses the microphone. Close it, then try again.',
      frame: 'This frame may not use the microphone. Its page must allow it: allow="microphone; autoplay".',
      insecure: 'Browsers give the microphone to secure (https) pages only.',
      UNAUTHORIZED: 'This button no longer works: its key was replaced.', EMBED_DISABLED: 'Calls from web pages are switched off.',
      ORIGIN_NOT_ALLOWED: 'This web site may not start calls.', DAILY_LIMIT_REACHED: 'Today’s limit of calls is reached. Please try tomorrow.',
      INSUFFICIENT_BALANCE: 'No calls can be taken at the moment.', CONCURRENT_CALL_LIMIT: 'All lines are busy. Please try again in a moment.',
      RATE_LIMITED: 'Too many tries. Please wait a minute.', UNSUPPORTED_LANGUAGE: 'The agent does not speak this language.',
      DISPATCH_FAILED: 'The agent is not available. Please try again later.',
      connect: 'The call could not connect. A firewall may be in the way.', unreachable: 'The service cannot be reached. Please try again.',
    },
    hi: {
      label: 'हमसे बात करें', title: 'कॉल', close: 'बंद करें', start: 'कॉल शुरू करें', end: 'कॉल काटें', mute: 'म्यूट करें', unmute: 'अनम्यूट करें',
      language: 'भाषा', captions: 'कैप्शन', you: 'आप', agent: 'एजेंट', level: 'आपकी आवाज़',
      consent: 'जवाब एक स्वचालित एजेंट देता है। जवाब देने के लिए आपकी बात को टेक्स्ट में बदला जाता है।',
      loading: 'लोड हो रहा है…', asking: 'कृपया माइक्रोफ़ोन की अनुमति दें…', connecting: 'कनेक्ट हो रहा है…', waiting: 'एजेंट की प्रतीक्षा…',
      initializing: 'तैयारी हो रही है…', idle: 'तैयार', listening: 'सुन रहा है', thinking: 'सोच रहा है…', speaking: 'बोल रहा है',
      lost: 'कनेक्शन टूट गया, फिर कोशिश हो रही है…', ended: 'कॉल समाप्त हुई', duration: 'अवधि {0}',
      NotAllowedError: 'माइक्रोफ़ोन बंद है। इस पेज को अनुमति दें (पते के पास का चिह्न), फिर कोशिश करें।',
      NotFoundError: 'कोई माइक्रोफ़ोन नहीं मिला। उसे जोड़कर फिर कोशिश करें।',
      NotReadableError: 'माइक्रोफ़ोन दूसरे प्रोग्राम में है। उसे बंद करके फिर कोशिश करें।',
      frame: 'इस फ़्रेम को माइक्रोफ़ोन की अनुमति नहीं है: allow="microphone; autoplay"।',
      insecure: 'माइक्रोफ़ोन केवल सुरक्षित (https) पेजों पर चलता है।',
      UNAUTHORIZED: 'यह बटन अब काम नहीं करता: इसकी कुंजी बदल गई है।', EMBED_DISABLED: 'वेब पेजों से कॉल बंद हैं।',
      ORIGIN_NOT_ALLOWED: 'यह वेबसाइट कॉल शुरू नहीं कर सकती।', DAILY_LIMIT_REACHED: 'आज की सीमा पूरी हो गई। कृपया कल कोशिश करें।',
      INSUFFICIENT_BALANCE: 'अभी कॉल नहीं ली जा सकतीं।', CONCURRENT_CALL_LIMIT: 'सभी लाइनें व्यस्त हैं। थोड़ी देर में कोशिश करें।',
      RATE_LIMITED: 'बहुत अधिक प्रयास। कृपया एक मिनट रुकें।', UNSUPPORTED_LANGUAGE: 'एजेंट यह भाषा नहीं बोलता।',
      DISPATCH_FAILED: 'एजेंट उपलब्ध नहीं है। बाद में कोशिश करें।',
      connect: 'कॉल कनेक्ट नहीं हुई। शायद फ़ायरवॉल रोक रहा है।', unreachable: 'सेवा तक पहुँच नहीं है। फिर कोशिश करें।',
    },
  };

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
      this.#label.textContent = this.getAttribute('label') ?? this.text('label');
      const accent = this.getAttribute('accent');
      if (accent && CSS.supports('color', accent)) {
        this.style.setProperty('--earshot-accent', accent);
        this.style.setProperty('--earshot-accent-ink', inkOn(accent));
      }
    }

    get host() { return this.getAttribute('host') ?? home.origin; }

    text(name, ...values) {
      const lang = (this.closest('[lang]')?.lang || navigator.language).slice(0, 2);
      return (TEXTS[lang]?.[name] ?? TEXTS.en[name] ?? '').replace(/\{(\d)\}/g, (_, n) => values[n]);
    }

    /* The panel; made at the first use. null: it cannot be loaded, which is said. A browser may remember what it could not load by its address. */
    async #panel() {
      this.attributeChangedCallback();
      const url = new URL('/embed/call.js', this.host);
      if (this.#tries) url.search = this.#tries;
      this.#call ??= import(url).then(({ Call }) => new Call(this, this.#button));
      try { return await this.#call; } catch {
        this.#call = null;
        this.#tries++;
        const message = this.#label.textContent = this.text('unreachable');
        this.dispatchEvent(new CustomEvent('earshot:error', { bubbles: true, composed: true, detail: { callId: null, code: 'unreachable', message } }));
      }
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
    for (const { name, value } of script.attributes) if (name.startsWith('data-')) element.setAttribute(name.slice(5), value);
    const place = () => document.body.append(element);
    if (document.body) place();
    else addEventListener('DOMContentLoaded', place);
  }
})();
