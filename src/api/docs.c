/* GET /docs: the OpenAPI document as a page to read, self-contained. The page is a small script
 * that renders what /v1/openapi.json says. */
#include "api/request.h"
#include "api/resources.h"

static const char page[] =
    "<!doctype html><html lang=en><meta charset=utf-8><title>Earshot API</title>"
    "<meta name=viewport content='width=device-width'>"
    "<style>body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 "
    "1rem;"
    "color:#1d2330}h1{font-size:1.6rem}h2{margin-top:2.5rem;border-bottom:1px solid #d5d9e2}"
    "details{border:1px solid #d5d9e2;border-radius:6px;margin:.5rem 0;padding:.4rem .8rem}"
    "summary{cursor:pointer}code,pre{font:13px/1.4 ui-monospace,monospace}pre{background:#f4f6fa;"
    "padding:.6rem;overflow:auto;border-radius:4px}b.m{display:inline-block;width:4.5rem}"
    "table{border-collapse:collapse;width:100%}td,th{text-align:left;vertical-align:top;"
    "padding:.2rem .6rem .2rem 0;border-top:1px solid #eceff4}</style>"
    "<h1>Earshot API</h1><p id=about></p><p>As a document: <a href=/v1/openapi.json>"
    "/v1/openapi.json</a></p><main id=main></main><script>"
    "const el=(t,x,...k)=>{const e=document.createElement(t);if(x)e.textContent=x;e.append(...k);"
    "return e};"
    "const name=s=>s.$ref?s.$ref.split('/').pop():s.anyOf?s.anyOf.map(name).join(' or '):"
    "s.enum?s.enum.join(' | '):Array.isArray(s.type)?s.type.join(' or '):"
    "s.type==='array'?'list of '+name(s.items):s.type||'any';"
    "const rows=(d,s)=>{const t=el('table');for(const[k,v]of Object.entries(s.properties||{})){"
    "const r=el('tr');const b=[v.minimum!==undefined?v.minimum+' to '+v.maximum:'',"
    "v.maxLength?'at most '+v.maxLength+' characters':'',v.default!==undefined?'default '+"
    "JSON.stringify(v.default):''].filter(Boolean).join(', ');"
    "r.append(el('td','',el('code',k+((s.required||[]).includes(k)?' *':''))),el('td',name(v)),"
    "el('td',[v.description||'',b].filter(Boolean).join(' ')));t.append(r)}return t};"
    "fetch('/v1/openapi.json').then(r=>r.json()).then(d=>{about.textContent=d.info.description;"
    "for(const tag of d.tags){main.append(el('h2',tag.name),el('p',tag.description));"
    "for(const[p,ops]of Object.entries(d.paths))for(const[m,o]of Object.entries(ops)){"
    "if(!o.tags.includes(tag.name))continue;const b=el('details'),s=el('summary');"
    "const m2=el('b',m.toUpperCase());m2.className='m';s.append(m2,el('code',p),' '+o.summary);"
    "b.append(s);for(const q of o.parameters||[])if(q.name)b.append(el('p',q.in+' '+q.name+': '+"
    "name(q.schema)+'. '+(q.description||'')));"
    "const i=o.requestBody&&o.requestBody.content['application/json'];if(i){b.append(el('p','Body: "
    "'"
    "+name(i.schema)));if(i.example)b.append(el('pre',JSON.stringify(i.example,null,2)))}"
    "for(const[c,r]of Object.entries(o.responses)){const j=(r.content||{})['application/json'];"
    "b.append(el('p',c+' '+r.description+(j?' '+name(j.schema):'')))}main.append(b)}}"
    "main.append(el('h2','Objects'));for(const[n,s]of Object.entries(d.components.schemas)){"
    "const b=el('details');b.append(el('summary',n),el('p',s.description||''),rows(d,s));"
    "main.append(b)}});</script>";

void docs_get(struct request *request)
{
    struct answer *answer = &request->answer;
    answer->status = 200;
    answer->content_type = "text/html; charset=utf-8";
    (void)buf_append(&answer->body, page, sizeof page - 1);
}
